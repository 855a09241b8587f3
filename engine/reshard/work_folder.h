// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folder DESTINATION.partial, which holds the output until it is complete.

#include <string>

#include "engine/reshard/reshard_journal.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

class WorkFolder {
 public:
  static std::string PathFor(const std::string& destination) { return destination + ".partial"; }
  /// Creates the folder if it is missing and opens its journal.
  /// \error kNotFound if the parent folder is missing, and those of ReshardJournal::Open
  static Result<WorkFolder> Open(const std::string& destination);

  ReshardJournal& journal() { return journal_; }
  const std::string& path() const { return path_; }
  /// The path of the file or folder that is renamed to the destination. It does not exist at first.
  const std::string& output() const { return output_; }
  /// Removes everything in the folder except the journal.
  Status Clear() const;

  /// Whether an earlier run renamed the output and was killed before it removed this folder.
  bool WasRenamed() const;
  /// Renames the output to the destination. With `replace`, an existing destination is exchanged
  /// with it in one step.
  /// \error kAlreadyExists if the destination exists and `replace` is not set; kUnavailable
  Status RenameOutput(bool replace);
  /// Removes the folder and everything in it, such as a replaced destination.
  Status Remove() const;

 private:
  WorkFolder(std::string destination, std::string path, ReshardJournal journal);
  std::string destination_, path_, output_;
  ReshardJournal journal_;
};

/// The error for a destination that exists and may not be replaced.
Error ExistsAlready(const std::string& destination);

}  // namespace tessera::reshard
