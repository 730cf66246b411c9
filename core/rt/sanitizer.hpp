// What AddressSanitizer must be told about stacks that are not a thread's: where execution moves,
// which memory is a stack, and which of it is not in use. Nothing at all in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define MORULA_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MORULA_ADDRESS_SANITIZER 1
#endif
#endif

namespace morula::sanitizer {

#ifdef MORULA_ADDRESS_SANITIZER
inline constexpr bool kEnabled = true;

/// Just before a switch to the stack at [bottom, bottom + size). `shadow` keeps what belongs to the
/// stack that is left; null when that one has ended.
void before_switch(void** shadow, const void* bottom, size_t size);
/// Just after: `shadow` is what `before_switch` kept when this stack was last left, null when it
/// starts. Tells the bounds of the stack that execution came from.
void after_switch(void* shadow, const void** from_bottom, size_t* from_size);
/// Pointers found in a stack keep what they point to from counting as leaked.
void stack_mapped(const void* bottom, size_t size);
void stack_unmapped(const void* bottom, size_t size);
/// An idle stack may not be touched.
void stack_idle(const void* bottom, size_t size);
void stack_in_use(const void* bottom, size_t size);

#else
inline constexpr bool kEnabled = false;

inline void before_switch(void**, const void*, size_t) {}
inline void after_switch(void*, const void**, size_t*) {}
inline void stack_mapped(const void*, size_t) {}
inline void stack_unmapped(const void*, size_t) {}
inline void stack_idle(const void*, size_t) {}
inline void stack_in_use(const void*, size_t) {}
#endif

}  // namespace morula::sanitizer
