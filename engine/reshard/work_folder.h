// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folder DESTINATION.partial beside a destination, where all is written until it is whole.

#include <string>

#include "engine/reshard/journal.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

class WorkFolder {
 public:
  static std::string PathFor(const std::string& destination) { return destination + ".partial"; }
  /// Makes the folder where it is missing and takes its journal.
  /// \error kNotFound if the parent folder is missing, and those of Journal::Open
  static Result<WorkFolder> Open(const std::string& destination);

  Journal& journal() { return journal_; }
  const std::string& path() const { return path_; }
  /// What becomes the destination: a file or a folder, not there at first.
  const std::string& output() const { return output_; }
  /// Removes the output and what else lies here, but the journal.
  Status Clear() const;

  /// Whether a run that was killed has put the output in its place already.
  bool WasPlaced() const;
  /// Renames the output to the destination; one that is there is exchanged in one step where
  /// `replace`. \error kAlreadyExists, without `replace`; kUnavailable
  Status Place(bool replace);
  /// Removes the folder with all that is left in it, such as a replaced destination.
  Status Remove() const;

 private:
  WorkFolder(std::string destination, std::string path, Journal journal);
  std::string destination_, path_, output_;
  Journal journal_;
};

/// The message for a destination that may not be replaced.
Error ExistsAlready(const std::string& destination);

}  // namespace tessera::reshard
