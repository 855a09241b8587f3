// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStringDecoder>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "ui/sentences.h"

namespace tessera::ui {
namespace {

constexpr char kFirstLine[] = "; tessera panel settings 1";
constexpr char kLastLine[] = "[end]";

QString escaped(QString text) {
  text.replace(QLatin1Char('\\'), QStringLiteral("\\\\"));
  text.replace(QLatin1Char('\n'), QStringLiteral("\\n"));
  text.replace(QLatin1Char('\r'), QStringLiteral("\\r"));
  return text;
}

std::optional<QString> unescaped(const QString& text) {
  QString out;
  out.reserve(text.size());
  for (qsizetype i = 0; i < text.size(); ++i) {
    if (text[i] != QLatin1Char('\\')) {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i].unicode()) {
      case '\\':
        out += QLatin1Char('\\');
        break;
      case 'n':
        out += QLatin1Char('\n');
        break;
      case 'r':
        out += QLatin1Char('\r');
        break;
      default:
        return std::nullopt;
    }
  }
  return out;
}

/// The value of a setting that is stored as `text`; its default if that is no value.
QVariant valueFrom(const SettingSpec& spec, const QString& text) {
  switch (spec.fallback.typeId()) {
    case QMetaType::Bool:
      if (text == QLatin1String("true")) return true;
      if (text == QLatin1String("false")) return false;
      return spec.fallback;
    case QMetaType::Int: {
      bool isNumber = false;
      const int value = text.toInt(&isNumber);
      return isNumber ? QVariant(std::clamp(value, spec.least, spec.most)) : spec.fallback;
    }
    default:
      return spec.choices.contains(text) ? QVariant(text) : spec.fallback;
  }
}

Error wrongLine(qsizetype line, const char* what) {
  return DataLoss("line " + std::to_string(line) + ": " + what);
}

}  // namespace

const std::vector<SettingSpec>& settingTable() {
  const auto key = [](const char* text) { return QString::fromLatin1(text); };
  static const std::vector<SettingSpec> table{
      {Setting::Theme,
       key("general/theme"),
       key("system"),
       0,
       0,
       {key("system"), key("light"), key("dark")}},
      {Setting::ReduceMotion, key("general/reduce_motion"), false},
      {Setting::Scale, key("general/scale"), 100, 50, 300},
      {Setting::Countdown, key("safety/countdown_seconds"), 3, 1, 30},
      {Setting::Relock, key("safety/relock_minutes"), 30, 1, 480},
      {Setting::Confirm, key("safety/confirm"), key("always"), 0, 0, {key("always"), key("large")}},
      {Setting::ConfirmAbove, key("safety/confirm_above_mib"), 64, 1, 1 << 20},
      {Setting::Mirror, key("data/mirror"), true},
      {Setting::MirrorSize, key("data/mirror_mib"), 256, 16, 1 << 16},
      {Setting::Source, key("view/source"), key("live"), 0, 0, {key("live"), key("draft")}},
      {Setting::Colouring,
       key("view/colour_by"),
       key("piece"),
       0,
       0,
       {key("piece"), key("replica"), key("stage"), key("slice"), key("host"), key("memory")}},
      {Setting::Grouping,
       key("view/group_by"),
       key("node"),
       0,
       0,
       {key("node"), key("host"), key("rack"), key("stage")}},
      {Setting::Notify, key("general/notify"), true},
      {Setting::Language,
       key("general/language"),
       key("system"),
       0,
       0,
       {key("system"), key("en"), key("de")}},
  };
  return table;
}

Result<SettingEntries> parseSettings(const QByteArray& bytes) {
  QStringDecoder decoder(QStringDecoder::Utf8);
  const QString text = decoder(bytes);
  if (decoder.hasError()) return DataLoss("not UTF-8 text");
  const QStringList lines = text.split(QLatin1Char('\n'));
  if (lines.first() != QLatin1String(kFirstLine)) {
    return wrongLine(1, "not a settings file of this version");
  }
  SettingEntries entries;
  QString section;
  for (qsizetype i = 1; i < lines.size(); ++i) {
    const QString& line = lines[i];
    if (line.isEmpty() || line.startsWith(QLatin1Char(';'))) continue;
    if (line == QLatin1String(kLastLine)) return entries;
    if (line.startsWith(QLatin1Char('['))) {
      if (!line.endsWith(QLatin1Char(']')))
        return wrongLine(i + 1, "a section without a closing bracket");
      section = line.mid(1, line.size() - 2);
      continue;
    }
    const qsizetype equals = line.indexOf(QLatin1Char('='));
    if (equals <= 0 || section.isEmpty()) return wrongLine(i + 1, "neither a section nor an entry");
    const auto value = unescaped(line.mid(equals + 1));
    if (!value) return wrongLine(i + 1, "a backslash that escapes no character");
    entries.insert(section + QLatin1Char('/') + line.left(equals), *value);
  }
  return DataLoss("the end is missing: the file is incomplete");
}

QByteArray printSettings(const SettingEntries& entries) {
  QString text = QLatin1String(kFirstLine) + QLatin1Char('\n');
  QString section;
  // Keys of one section have a common prefix, so they are adjacent.
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    const qsizetype slash = it.key().indexOf(QLatin1Char('/'));
    if (const QString next = it.key().left(slash); next != section) {
      section = next;
      text += QLatin1String("\n[") + section + QLatin1String("]\n");
    }
    text += it.key().mid(slash + 1) + QLatin1Char('=') + escaped(it.value()) + QLatin1Char('\n');
  }
  text += QLatin1Char('\n') + QLatin1String(kLastLine) + QLatin1Char('\n');
  return text.toUtf8();
}

Settings::Settings(QString file, QObject* parent) : QObject(parent), m_file(std::move(file)) {
  m_timer.setSingleShot(true);
  m_timer.setInterval(kSaveDelayMs);
  connect(&m_timer, &QTimer::timeout, this, [this] {
    if (const auto status = save(); !status) {
      emit saveFailed(localized(status.error().message));
    }
  });
  QFile disk(m_file);
  if (m_file.isEmpty() || !disk.exists()) return;
  if (!disk.open(QIODevice::ReadOnly)) {
    m_notice = tr("The settings in %1 cannot be read (%2). The panel uses its defaults.")
                   .arg(m_file, disk.errorString());
    return;
  }
  const QByteArray bytes = disk.read(kMaxBytes + 1);
  auto entries = bytes.size() > kMaxBytes ? Result<SettingEntries>(DataLoss("larger than 1 MiB"))
                                          : parseSettings(bytes);
  if (entries) {
    m_entries = std::move(*entries);
    return;
  }
  disk.close();
  const QString bad = m_file + QStringLiteral(".bad");
  const bool kept = std::rename(qUtf8Printable(m_file), qUtf8Printable(bad)) == 0;
  const QString why = localized(entries.error().message);
  m_notice = kept ? tr("The settings file was damaged (%1). The panel uses its defaults and kept "
                       "the file as %2.")
                        .arg(why, bad)
                  : tr("The settings file was damaged (%1). The panel uses its defaults.").arg(why);
}

Settings::~Settings() {
  if (m_dirty) {
    if (const auto status = save(); !status) {
      std::fprintf(stderr, "tessera: %s\n", status.error().message.c_str());
    }
  }
}

const SettingSpec& Settings::specOf(Setting setting) {
  return settingTable()[static_cast<std::size_t>(setting)];
}

QVariant Settings::valueOf(Setting setting) const {
  const SettingSpec& spec = specOf(setting);
  const auto found = m_entries.find(spec.key);
  return found == m_entries.end() ? spec.fallback : valueFrom(spec, *found);
}

bool Settings::flag(Setting setting) const { return valueOf(setting).toBool(); }
int Settings::number(Setting setting) const { return valueOf(setting).toInt(); }
QString Settings::text(Setting setting) const { return valueOf(setting).toString(); }

void Settings::set(Setting setting, const QVariant& value) {
  const SettingSpec& spec = specOf(setting);
  QVariant next = value;
  if (spec.fallback.typeId() == QMetaType::Int) {
    next = std::clamp(value.toInt(), spec.least, spec.most);
  } else if (!spec.choices.isEmpty() && !spec.choices.contains(value.toString())) {
    return;
  }
  if (next == valueOf(setting)) return;
  m_entries.insert(spec.key, next.toString());
  touch();
  emit changed(setting);
}

void Settings::setEntry(const QString& key, const QString& text) {
  if (m_entries.contains(key) && m_entries.value(key) == text) return;
  m_entries.insert(key, text);
  touch();
}

void Settings::setBlob(const QString& key, const QByteArray& bytes) {
  setEntry(key, QString::fromLatin1(bytes.toBase64()));
}

void Settings::removeEntry(const QString& key) {
  if (m_entries.remove(key) > 0) touch();
}

QStringList Settings::keysBelow(const QString& section) const {
  QStringList keys;
  const QString prefix = section + QLatin1Char('/');
  for (auto it = m_entries.lowerBound(prefix); it != m_entries.end() && it.key().startsWith(prefix);
       ++it) {
    keys << it.key();
  }
  return keys;
}

void Settings::touch() {
  m_dirty = true;
  // The timer runs from the first change, so that continuous changes do not delay the save.
  if (!m_file.isEmpty() && !m_timer.isActive()) m_timer.start();
}

Status Settings::save() {
  m_timer.stop();
  m_dirty = false;
  if (m_file.isEmpty()) return OkStatus();
  const auto cannot = [this](const QString& why) {
    return Unavailable("cannot write " + m_file.toStdString() + ": " + why.toStdString());
  };
  const QString folder = QFileInfo(m_file).path();
  if (!QDir().mkpath(folder)) return cannot(tr("no folder %1").arg(folder));
  QFile next(m_file + QStringLiteral("_new"));
  if (!next.open(QIODevice::WriteOnly | QIODevice::Truncate)) return cannot(next.errorString());
  next.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  const QByteArray bytes = printSettings(m_entries);
  if (next.write(bytes) != bytes.size() || !next.flush()) return cannot(next.errorString());
  next.close();
  if (std::rename(qUtf8Printable(next.fileName()), qUtf8Printable(m_file)) != 0) {
    return cannot(tr("the new file could not be renamed"));
  }
  return OkStatus();
}

QVariant Settings::peek(const QString& file, Setting setting) {
  const SettingSpec& spec = specOf(setting);
  QFile disk(file);
  if (!disk.open(QIODevice::ReadOnly)) return spec.fallback;
  const auto entries = parseSettings(disk.read(kMaxBytes));
  return entries ? valueFrom(spec, entries->value(spec.key)) : spec.fallback;
}

}  // namespace tessera::ui
