// Processes of a Linux machine, from /proc.
#pragma once

#include "core/rt/platform.hpp"

namespace morula {

class LinuxPlatform final : public Platform {
 public:
  LinuxPlatform();

  ProcessIdentity self() const override { return self_; }
  bool provably_gone(const ProcessIdentity& process) const override;

 private:
  ProcessIdentity self_;
};

}  // namespace morula
