// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A row of the tree of files in words: plain values for the Files page to show beside it.

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
  QString summary;  // one sentence on what it is
  QString path;     // below the mount
  std::vector<Fact> facts = {};
  QString placement = {};     // "2 ranges, each on 2 GPUs"
  bool safetensors = false;   // whether it is such a file, or stands in one
  QString tensor = {};        // the name of the one
  FilePlanPtr plan = {};      // of the file
  PlacedBytesPtr bytes = {};  // null where no device holds any
};

/// \param before of an earlier moment: where it is of the same bytes, their placement is kept
/// \pre index.isValid()
FileFacts makeFileFacts(const FileTreeModel& files, const QModelIndex& index,
                        const FileFacts& before);

/// How Python reads it from a path. \pre facts.safetensors
QString pythonLine(const FileFacts& facts, const QString& path);

}  // namespace tessera::ui
