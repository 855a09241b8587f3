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

/// Local files. Each read compares the file with its state when it was opened (size, time of
/// change, identity), because a job must not train on a mixture of two contents. Descriptors are
/// opened on demand and a bounded number stays open, so a data set may have thousands of files.
///
/// List returns the regular files in a folder and below it, in byte order of their paths. It does
/// not follow symbolic links, and leaves out hidden names and __pycache__, site-packages and
/// dist-packages: tools change these on every run, and all samples after them would change. A
/// folder that cannot be read is an error that names it.
/// \threadsafety Any thread.
class LocalFiles final : public SourceOpener {
 public:
  explicit LocalFiles(std::size_t max_open = 128);

  /// True for all names but URLs.
  bool Knows(const std::string& name) const override;
  Result<ByteSourcePtr> Open(const std::string& name) const override;
  Result<std::vector<std::string>> List(const std::string& name) const override;

 private:
  std::shared_ptr<DescriptorPool> pool_;  // shared with the sources
};

}  // namespace tessera::engine
