// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/linguist_tools.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QXmlStreamReader>

#include "tests/folders.h"

namespace tessera::test {

QString outputOf(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(program, arguments);
  if (!process.waitForFinished(60'000)) process.kill();
  return QString::fromUtf8(process.readAll());
}

QString linguistTool(const QString& name) {
  const QString own = QStandardPaths::findExecutable(
      name, {QStringLiteral("/usr/lib/qt6/bin"), QStringLiteral("/usr/lib64/qt6/bin")});
  const QString found = own.isEmpty() ? QStandardPaths::findExecutable(name) : own;
  const bool runs =
      !found.isEmpty() &&
      outputOf(found, {QStringLiteral("-version")}).contains(QStringLiteral("version 6"));
  return runs ? found : QString();
}

QString extractTexts(const QString& file, const QStringList& options) {
  const QString tree = QStringLiteral(TESSERA_SOURCE_DIR);
  return outputOf(
      linguistTool(QStringLiteral("lupdate")),
      QStringList{QStringLiteral("-silent"), QStringLiteral("-locations"), QStringLiteral("none"),
                  QStringLiteral("-I"), tree, tree + QStringLiteral("/ui"),
                  tree + QStringLiteral("/app"), QStringLiteral("-ts"), file} +
          options);
}

std::vector<TranslatedText> translatedTexts(const QString& file) {
  QFile in(file);
  if (!in.open(QIODevice::ReadOnly)) return {};
  QXmlStreamReader xml(&in);
  std::vector<TranslatedText> texts;
  QString context;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    const auto name = xml.name();
    if (name == u"name") {
      context = xml.readElementText();
    } else if (name == u"message") {
      texts.push_back(
          {context, {}, {}, {}, xml.attributes().value(QLatin1String("numerus")) == u"yes"});
    } else if (name == u"source") {
      texts.back().source = xml.readElementText();
    } else if (name == u"translation") {
      texts.back().type = xml.attributes().value(QLatin1String("type")).toString();
      if (!texts.back().hasForms) texts.back().translations << xml.readElementText();
    } else if (name == u"numerusform") {
      texts.back().translations << xml.readElementText();
    }
  }
  return xml.hasError() ? std::vector<TranslatedText>() : texts;
}

}  // namespace tessera::test
