// A swapped document as it was read or written: its content and the etag to swap it from.
#pragma once

#include "core/rt/store.hpp"

namespace morula {

template <class T>
struct Versioned {
  T content;
  Etag etag;
};

}  // namespace morula
