// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/torch_file.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source =
      checkpoint::ByteSource::FromMemory("a.pt", std::string(fuzz::Text(data, size)));
  const auto archive = checkpoint::ZipArchive::Open(checkpoint::ByteWindow(source));
  if (!archive) {
    fuzz::CheckError(archive.error(), {"a.pt: byte "});
    return 0;
  }
  for (const auto& entry : archive->entries()) {
    const auto bytes = archive->ReadEntry(entry, static_cast<std::int64_t>(size));
    if (!bytes) fuzz::CheckError(bytes.error(), {"a.pt: byte "});
  }
  const auto file = checkpoint::TorchFile::Open(checkpoint::ByteWindow(source));
  if (!file) {
    fuzz::CheckError(file.error(), {"a.pt: byte "});
    return 0;
  }
  const auto tensor = file->FindTensor(file->root());
  if (!tensor) fuzz::CheckError(tensor.error(), {"a.pt: byte "});
  return 0;
}
