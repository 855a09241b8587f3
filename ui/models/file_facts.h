// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The description of a row of the file tree, as plain values for the Files page.

#include <QModelIndex>
#include <QString>
#include <vector>

#include "ui/models/file_tree_model.h"
#include "ui/models/placed_bytes.h"

namespace tessera::ui {

struct FileFacts {
  struct Fact {
    QString key, value;
    friend bool operator==(const Fact&, const Fact&) = default;
  };
  QString title;    // "model.safetensors", "wte.weight"
  QString summary;  // one sentence about its content
  QString path;     // below the mount
  std::vector<Fact> facts = {};
  QString placement = {};     // "2 ranges, each on 2 GPUs"
  bool safetensors = false;   // whether it is such a file or a tensor in one
  QString tensor = {};        // the name of the tensor, if it is one
  FilePlanPtr plan = {};      // of the file
  PlacedBytesPtr bytes = {};  // null if no device holds any
};

/// Describes a row.
/// \param before an earlier description; its placement is reused if it is of the same bytes
/// \pre index.isValid()
FileFacts makeFileFacts(const FileTreeModel& files, const QModelIndex& index,
                        const FileFacts& before);

/// Returns a line of Python that reads it from `path`.
/// \pre facts.safetensors
QString pythonLine(const FileFacts& facts, const QString& path);

}  // namespace tessera::ui
