// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/pseudo_translator.h"

#include <QRegularExpression>

namespace tessera::test {
namespace {

// By letter from a to z; m, q, v and x have no accent in common fonts.
const QString kSmall = QStringLiteral("áƀćďéƒĝĥíĵķĺmñóþqŕšťúvŵxýž");
const QString kLarge = QStringLiteral("ÁƁĆĎÉƑĜĤÍĴĶĹMÑÓÞQŔŠŤÚVŴXÝŽ");

QChar accented(QChar letter) {
  if (letter >= u'a' && letter <= u'z') return kSmall[letter.unicode() - u'a'];
  if (letter >= u'A' && letter <= u'Z') return kLarge[letter.unicode() - u'A'];
  return letter;
}

}  // namespace

QString pseudo(const QString& text) {
  static const QRegularExpression kept(QStringLiteral("%L?[0-9]+|%n|<[^>]*>|&[a-z]+;"));
  QString out = QStringLiteral("[");
  qsizetype at = 0, letters = 0;
  const auto change = [&](qsizetype end) {
    for (; at < end; ++at, ++letters) out += accented(text[at]);
  };
  for (auto each = kept.globalMatch(text); each.hasNext();) {
    const auto match = each.next();
    change(match.capturedStart());
    out += match.captured();
    at = match.capturedEnd();
  }
  change(text.size());
  // Long texts grow by words, so that they wrap as sentences do; a value at the end stays a word.
  QString more;
  for (qsizetype rest = (letters * 2 + 4) / 5; rest > 0; rest -= 6) {
    more += QLatin1Char(letters > 12 ? ' ' : '~') + QString(std::min<qsizetype>(rest, 6) - 1, u'~');
  }
  static const QRegularExpression value(QStringLiteral("(%L?[0-9]+|%n)$"));
  if (value.match(text).hasMatch()) return out.insert(1, more.trimmed() + u' ') + QLatin1Char(']');
  return out + more + QLatin1Char(']');
}

}  // namespace tessera::test
