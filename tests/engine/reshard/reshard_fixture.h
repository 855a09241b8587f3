// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The base of reshard tests: a temporary folder, and runs between two names in it.

#include <QDir>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <string>

#include "engine/reshard/reshard.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/support/temporary_folder.h"

namespace tessera::test {

class ReshardFixture : public QObject {
 protected:
  void NewFolder() {
    folder_ = TemporaryFolder();
    QVERIFY(folder_->isValid());
  }

  std::string Path(const std::string& name) const {
    return QDir(folder_->path()).filePath(QString::fromStdString(name)).toStdString();
  }

  /// Reshards "src.safetensors" to a name in the folder or to a path.
  Result<reshard::Report> Run(const std::string& destination,
                              const reshard::Options& options) const {
    const auto source = checkpoint::Checkpoint::Open(Path("src.safetensors"));
    if (!source) return source.error();
    return reshard::Reshard(**source, Path(destination), options);
  }

  void VerifyNothingBut(const QStringList& names) const {
    QCOMPARE(
        QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
        names);
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

}  // namespace tessera::test
