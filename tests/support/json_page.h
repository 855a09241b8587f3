// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The page json.md of the guide, and whether documents are as it describes them.

#include <QFile>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/folders.h"

namespace tessera::test {

class JsonPage {
 public:
  using Json = nlohmann::ordered_json;

  /// \param file below resources/guide
  explicit JsonPage(const QString& file = QStringLiteral("json.md")) {
    QFile page(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/") + file);
    if (!page.open(QIODevice::ReadOnly)) return;
    // A section: its names, its text, its block.
    static const QRegularExpression section(
        QStringLiteral("^### ([^\n]+)\n\n([^\n]+)\n\n```json\n(.*?)\n```$"),
        QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
    const QString text = QString::fromUtf8(page.readAll());
    for (auto it = section.globalMatch(text); it.hasNext();) {
      const auto found = it.next();
      const Json block = Json::parse(found.captured(3).toStdString(), nullptr, false);
      for (QString name : found.captured(1).split(QStringLiteral(", "))) {
        const std::string key = name.remove(u'`').toStdString();
        m_blocks[key] = block;
        m_texts[key] = found.captured(2);
      }
    }
  }

  const std::map<std::string, Json>& blocks() const { return m_blocks; }
  /// The text of a section; empty without one.
  QString text(const std::string& name) const {
    const auto found = m_texts.find(name);
    return found == m_texts.end() ? QString() : found->second;
  }

  /// How a document of a verb differs from its block; empty: it does not. `version` may be there.
  QStringList differences(const std::string& verb, Json document) const {
    QStringList out;
    if (!m_blocks.contains(verb))
      return {QStringLiteral("no section ") + QString::fromStdString(verb)};
    if (document.is_object()) document.erase("version");
    compare(m_blocks.at(verb), document, verb, out);
    return out;
  }

  /// The same for a line that a verb has printed.
  QStringList differences(const std::string& verb, const QString& line) const {
    return differences(verb, Json::parse(line.toStdString(), nullptr, false));
  }

  /// Names in blocks that have no section.
  QStringList unknownNames() const {
    QStringList out;
    for (const auto& [name, block] : m_blocks) {
      if (block.is_discarded()) out << QString::fromStdString(name + ": the block is not JSON");
      collect(block, out);
    }
    out.removeDuplicates();
    return out;
  }

 private:
  static bool isName(const std::string& kind) {
    static const QRegularExpression pattern(QStringLiteral("^(NODE|DEVICE)$"));
    return QString::fromStdString(kind).contains(pattern);
  }

  void collect(const Json& block, QStringList& out) const {
    if (block.is_structured()) {
      for (const Json& member : block) collect(member, out);
    } else if (block.is_string()) {
      for (QString kind : QString::fromStdString(block.get<std::string>()).split(u'|')) {
        const std::string name = kind.remove(u'[').remove(u']').toStdString();
        static const std::map<std::string, int> simple = {{"int", 0},  {"number", 0}, {"string", 0},
                                                          {"bool", 0}, {"null", 0},   {"any", 0},
                                                          {"TIME", 0}};
        if (!simple.contains(name) && !isName(name) && !m_blocks.contains(name))
          out << QString::fromStdString(name);
      }
    }
  }

  static void add(QStringList& out, const std::string& where, const std::string& what) {
    out << QString::fromStdString(where + ": " + what);
  }

  /// Whether the value is of the kind. Objects of shared parts are compared whole.
  bool matches(const std::string& kind, const Json& value, const std::string& where,
               QStringList& out) const {
    if (kind == "any") return true;
    if (kind == "null") return value.is_null();
    if (kind == "int") return value.is_number_integer();
    if (kind == "number" || kind == "TIME") return value.is_number();
    if (kind == "string") return value.is_string();
    if (kind == "bool") return value.is_boolean();
    if (isName(kind)) {
      static const QRegularExpression node(QStringLiteral("^n\\d+$")),
          device(QStringLiteral("^n\\d+g\\d+$"));
      return value.is_string() && QString::fromStdString(value.get<std::string>())
                                      .contains(kind == "NODE" ? node : device);
    }
    if (kind.starts_with('[')) {
      if (!value.is_array()) return false;
      compare(Json::array({kind.substr(1, kind.size() - 2)}), value, where, out);
      return true;
    }
    if (!value.is_object()) return false;
    compare(m_blocks.at(kind), value, where, out);
    return true;
  }

  void compare(const Json& block, const Json& value, const std::string& where,
               QStringList& out) const {
    if (block.is_string()) {
      const auto kinds = QString::fromStdString(block.get<std::string>()).split(u'|');
      for (const QString& kind : kinds)
        if (matches(kind.toStdString(), value, where, out)) return;
      return add(out, where, value.dump() + " is not " + block.get<std::string>());
    }
    if (block.is_array()) {
      if (!value.is_array()) return add(out, where, "is not a list");
      for (std::size_t i = 0; i < value.size(); ++i)
        compare(block[0], value[i], where + "[" + std::to_string(i) + "]", out);
      return;
    }
    if (!value.is_object()) return add(out, where, "is not an object");
    for (const auto& [key, kind] : block.items())
      if (key != "*" && !key.ends_with('?') && !value.contains(key))
        add(out, where, "has no '" + key + "'");
    for (const auto& [key, member] : value.items()) {
      const std::string inside = where + "." + key;
      if (block.contains(key))
        compare(block[key], member, inside, out);
      else if (block.contains(key + "?"))
        compare(block[key + "?"], member, inside, out);
      else if (block.contains("*"))
        compare(block["*"], member, inside, out);
      else
        add(out, inside, "is not on the page");
    }
  }

  std::map<std::string, Json> m_blocks;
  std::map<std::string, QString> m_texts;
};

}  // namespace tessera::test
