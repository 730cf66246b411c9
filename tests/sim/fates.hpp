// What can become of a request to the simulated store, by name.
#pragma once

#include "sim/world/sim_store.hpp"

namespace morula::sim {

/// Lost on its way to the store.
inline StoreFate request_lost() {
  StoreFate fate;
  fate.lands = false;
  return fate;
}
/// Carried out, and nobody hears of it.
inline StoreFate answer_lost() {
  StoreFate fate;
  fate.answered = false;
  return fate;
}
inline StoreFate landing_after(Duration duration) {
  StoreFate fate;
  fate.to_store = duration;
  return fate;
}
/// Answered as usual; a copy of it lands so much later.
inline StoreFate landing_again_after(Duration duration) {
  StoreFate fate;
  fate.lands_again = duration;
  return fate;
}
/// Not carried out.
inline StoreFate refused(ErrorCode code) {
  StoreFate fate;
  fate.refused = code;
  return fate;
}
/// Carried out, and answered with an error all the same.
inline StoreFate spoiled(ErrorCode code) {
  StoreFate fate;
  fate.spoiled = code;
  return fate;
}
/// A get of an object in which one bit is flipped on the way.
inline StoreFate flipped() {
  StoreFate fate;
  fate.flips_bit = true;
  return fate;
}

}  // namespace morula::sim
