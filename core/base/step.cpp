#include "core/base/step.hpp"

#include "core/base/check.hpp"

namespace morula {

std::string_view to_string(Step step) {
  switch (step) {
#define MORULA_STEP_NAME(name, what) \
  case Step::k##name:                \
    return #name;
    MORULA_STEPS(MORULA_STEP_NAME)
#undef MORULA_STEP_NAME
  }
  MORULA_CHECK(false, "a step without a name");
}

}  // namespace morula
