// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tessera::agents {

Result<SharedLibrary> SharedLibrary::Open(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return Unavailable(why != nullptr ? why : name);
  }
  return SharedLibrary(name, handle);
}

Result<void*> SharedLibrary::Find(const char* symbol) const {
  if (void* const address = ::dlsym(handle_, symbol)) return address;
  return Unavailable(fmt::format("{} has no function {}", name_, symbol));
}

}  // namespace tessera::agents
