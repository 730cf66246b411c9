#include "core/rt/sanitizer.hpp"

#ifdef MORULA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

// Stands in this file because fibers need the functions below: so every binary with fibers gets it.
// A fake stack for locals would have to follow each fiber; it finds little here and costs much.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "detect_stack_use_after_return=0";
}

namespace morula::sanitizer {

void before_switch(void** shadow, const void* bottom, size_t size) {
  __sanitizer_start_switch_fiber(shadow, bottom, size);
}

void after_switch(void* shadow, const void** from_bottom, size_t* from_size) {
  __sanitizer_finish_switch_fiber(shadow, from_bottom, from_size);
}

void stack_mapped(const void* bottom, size_t size) {
  __lsan_register_root_region(bottom, size);
}

void stack_unmapped(const void* bottom, size_t size) {
  __asan_unpoison_memory_region(bottom, size);
  __lsan_unregister_root_region(bottom, size);
}

void stack_idle(const void* bottom, size_t size) {
  __asan_poison_memory_region(bottom, size);
}

void stack_in_use(const void* bottom, size_t size) {
  __asan_unpoison_memory_region(bottom, size);
}

}  // namespace morula::sanitizer
#endif
