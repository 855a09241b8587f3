// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/nccl_library.h"

#include <fmt/format.h>

#include "agents/gpu/shared_library.h"

namespace tessera::agents {

Result<std::shared_ptr<const NcclLibrary>> NcclLibrary::Get() {
  static const Result<std::shared_ptr<const NcclLibrary>> library = Load();
  return library;
}

Result<std::shared_ptr<const NcclLibrary>> NcclLibrary::Load() {
  TESSERA_TRY(const SharedLibrary library, SharedLibrary::Open("libnccl.so.2").Context("no NCCL"));
  std::shared_ptr<NcclLibrary> nccl(new NcclLibrary);
#define TESSERA_NCCL_LOAD(name, symbol, parameters) \
  TESSERA_RETURN_IF_ERROR(library.Find(symbol, &nccl->api_.name));
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_LOAD)
#undef TESSERA_NCCL_LOAD
  TESSERA_RETURN_IF_ERROR(library.Find("ncclGetErrorString", &nccl->api_.GetErrorString));
  static_cast<void>(library.Find(nccl::kEmulationSymbol, &nccl->emulation_));
  if (nccl->api_.GetVersion(&nccl->version_) != nccl::kSuccess) {
    return Unavailable("NCCL does not say which version it is");
  }
  return nccl;
}

// Since 2.9 the number is major * 10000 + minor * 100 + patch.
std::string NcclLibrary::VersionText() const {
  return fmt::format("{}.{}.{}{}", version_ / 10000, version_ / 100 % 100, version_ % 100,
                     emulation_ != nullptr ? " (emulated)" : "");
}

Status NcclLibrary::Check(nccl::Code code, const char* call) const {
  if (code == nccl::kSuccess || code == nccl::kInProgress) return OkStatus();
  return Unavailable(fmt::format("NCCL: {}: {} ({})", call, api_.GetErrorString(code), code));
}

}  // namespace tessera::agents
