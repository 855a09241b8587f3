// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A library of the machine that is loaded at run time, so that programs start without it.

#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Stays loaded until the process ends: drivers have threads that cannot be unloaded.
class SharedLibrary {
 public:
  /// \error kUnavailable with the words of the dynamic linker
  static Result<SharedLibrary> Open(const std::string& name);

  /// Stores the address of a function.
  /// \error kUnavailable naming library and symbol
  template <typename Function>
  Status Find(const char* symbol, Function** out) const {
    TESSERA_TRY(void* const address, Find(symbol));
    *out = reinterpret_cast<Function*>(address);
    return OkStatus();
  }

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  Result<void*> Find(const char* symbol) const;

  std::string name_;
  void* handle_;
};

}  // namespace tessera::agents
