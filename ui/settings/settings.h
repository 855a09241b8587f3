// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The settings of the panel, stored in a small INI file (FORMAT.md). Typed settings have defaults
/// and limits in one table; free entries hold layouts and shortcuts. GUI thread only.

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
  Scale,         // percent of all sizes; takes effect after a restart
  Countdown,     // seconds between a drop and its apply in live mode
  Relock,        // minutes without input until Operate locks itself
  Confirm,       // "always", or "large": only moves above ConfirmAbove
  ConfirmAbove,  // MiB
  Mirror,        // keep a copy of the cluster's history on this machine
  MirrorSize,    // maximum size of a copy in MiB
  Source,        // last source: "live", "draft"
  Colouring,     // meaning of the colours in the mesh: "piece", "memory", …
  Grouping,      // what a frame of the mesh contains: "node", "host", "rack", "stage"
  Notify,        // desktop notices while another window is active
  Language,      // "system", "en", "de"; takes effect after a restart
};

struct SettingSpec {
  Setting setting;
  QString key;               // "section/name" in the file
  QVariant fallback;         // its type is the type of the setting: bool, int or QString
  int least = 0, most = 0;   // of numbers
  QStringList choices = {};  // of texts
};
/// Returns all settings, in the order of the enumeration.
const std::vector<SettingSpec>& settingTable();

/// Texts by "section/name".
using SettingEntries = QMap<QString, QString>;
/// Parses the format of FORMAT.md.
/// \error kDataLoss naming the line, or if the end is missing
Result<SettingEntries> parseSettings(const QByteArray& bytes);
QByteArray printSettings(const SettingEntries& entries);

class Settings : public QObject {
  Q_OBJECT

 public:
  /// Delay between a change and its write to disk.
  static constexpr int kSaveDelayMs = 2000;
  /// A longer file is not a settings file.
  static constexpr qint64 kMaxBytes = 1 << 20;

  /// Reads `file`; without a name nothing is stored. A damaged file is renamed to FILE.bad; the
  /// defaults are used and notice() reports it.
  explicit Settings(QString file = {}, QObject* parent = nullptr);
  /// Writes pending changes.
  ~Settings() override;

  bool flag(Setting setting) const;
  int number(Setting setting) const;
  QString text(Setting setting) const;
  /// Sets a value. Numbers are clamped to the limits; a text that is not a choice is ignored.
  void set(Setting setting, const QVariant& value);
  void reset(Setting setting) { set(setting, specOf(setting).fallback); }
  static const SettingSpec& specOf(Setting setting);

  /// Entries that are not in the table, for example "shortcuts/plan.apply". Empty if not set.
  QString entry(const QString& key) const { return m_entries.value(key); }
  QByteArray blob(const QString& key) const {
    return QByteArray::fromBase64(entry(key).toLatin1());
  }
  void setEntry(const QString& key, const QString& text);
  void setBlob(const QString& key, const QByteArray& bytes);
  void removeEntry(const QString& key);
  /// The keys below "section/".
  QStringList keysBelow(const QString& section) const;

  /// The problem with the file as one sentence; empty if there was none.
  const QString& notice() const { return m_notice; }
  const QString& file() const { return m_file; }
  bool isSaved() const { return !m_dirty; }
  /// Writes now: a new file beside the old one, then a rename.
  /// \error kUnavailable naming the file
  Status save();

  /// Reads one setting directly from a file, for settings needed before Qt starts.
  static QVariant peek(const QString& file, Setting setting);

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
