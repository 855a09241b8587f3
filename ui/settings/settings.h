// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the user chose, kept in one small INI file (FORMAT.md). Typed settings come from one table
/// with their defaults and limits; free entries hold layouts and shortcuts. GUI thread only.

#include <QHash>
#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QVariant>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::ui {

enum class Setting {
  Theme,         // "system", "light", "dark"
  ReduceMotion,  // static arrows instead of running dots
  Scale,         // percent of all sizes; takes effect at the next start
  Countdown,     // seconds between a drop and its apply in live mode
  Relock,        // minutes without input until Operate locks itself
  Confirm,       // "always", or "large": only moves above ConfirmAbove
  ConfirmAbove,  // MiB
  Mirror,        // keep a copy of the cluster's history on this machine
  MirrorSize,    // MiB at most for it
  Source,        // what was shown last: "live", "draft"
  Colouring,     // what the colours of the mesh tell: "piece", "memory", …
};

struct SettingSpec {
  Setting setting;
  QString key;               // "section/name" in the file
  QVariant fallback;         // its type is the setting's: bool, int or QString
  int least = 0, most = 0;   // of numbers
  QStringList choices = {};  // of texts
};
/// Every setting, in the order of the enumeration.
const std::vector<SettingSpec>& settingTable();

/// Texts by "section/name".
using SettingEntries = QMap<QString, QString>;
/// Reads the format of FORMAT.md. \error kDataLoss naming the line, or saying that the end is
///     missing.
Result<SettingEntries> parseSettings(const QByteArray& bytes);
QByteArray printSettings(const SettingEntries& entries);

class Settings : public QObject {
  Q_OBJECT

 public:
  /// A change is on disk this long after it was made.
  static constexpr int kSaveDelayMs = 2000;
  /// A longer file is not one of ours.
  static constexpr qint64 kMaxBytes = 1 << 20;

  /// Reads `file`; without a name nothing is kept. A file that cannot be read as settings is
  /// renamed to FILE.bad, defaults are used, and `notice` says so.
  explicit Settings(QString file = {}, QObject* parent = nullptr);
  /// Writes what is not written yet.
  ~Settings() override;

  bool flag(Setting setting) const;
  int number(Setting setting) const;
  QString text(Setting setting) const;
  /// Numbers are moved to the nearest limit; a text that is no choice changes nothing.
  void set(Setting setting, const QVariant& value);
  void reset(Setting setting) { set(setting, specOf(setting).fallback); }
  static const SettingSpec& specOf(Setting setting);

  /// Entries without a row in the table, "shortcuts/plan.apply". Empty where there is none.
  QString entry(const QString& key) const { return m_entries.value(key); }
  QByteArray blob(const QString& key) const {
    return QByteArray::fromBase64(entry(key).toLatin1());
  }
  void setEntry(const QString& key, const QString& text);
  void setBlob(const QString& key, const QByteArray& bytes);
  void removeEntry(const QString& key);
  /// Keys below "section/".
  QStringList keysBelow(const QString& section) const;

  /// What was wrong with the file, one sentence; empty where nothing was.
  const QString& notice() const { return m_notice; }
  const QString& file() const { return m_file; }
  bool isSaved() const { return !m_dirty; }
  /// Writes now: a new file beside the old one, then a rename. \error kUnavailable naming the file
  Status save();

  /// One number of a file that is not opened: for what must be known before Qt starts.
  static int peek(const QString& file, Setting setting);

 signals:
  void changed(tessera::ui::Setting setting);
  void saveFailed(const QString& message);

 private:
  QVariant valueOf(Setting setting) const;
  void touch();

  QString m_file;
  QString m_notice;
  SettingEntries m_entries;
  bool m_dirty = false;
  QTimer m_timer;
};

}  // namespace tessera::ui
