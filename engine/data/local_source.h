// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Data in local files and folders.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::engine {

class DescriptorPool;

/// Local files. Each read compares the file with what it was when it was opened (size, time of
/// change, identity): a job must not train on a mixture of two contents. Descriptors are opened
/// when they are needed and a bounded number stays open, so thousands of files may be open here.
///
/// Of a folder, List gives the regular files in it and below in byte order of their paths, without
/// following symbolic links, except hidden names and __pycache__, site-packages and dist-packages:
/// these change with every tool that runs, and with them every sample after them.
/// \threadsafety Any thread.
class LocalFiles final : public SourceOpener {
 public:
  explicit LocalFiles(std::size_t max_open = 128);

  /// All but URLs.
  bool Knows(const std::string& name) const override;
  Result<ByteSourcePtr> Open(const std::string& name) const override;
  Result<std::vector<std::string>> List(const std::string& name) const override;

 private:
  std::shared_ptr<DescriptorPool> pool_;  // shared with the sources
};

}  // namespace tessera::engine
