// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/sentences.h"

#include <QCoreApplication>
#include <QHash>
#include <QLocale>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ui/format.h"

namespace tessera::ui {
namespace {

constexpr int kMostCached = 4096;
constexpr int kMostNested = 6;  // reasons inside of reasons

/// A known sentence: the text between its placeholders, and its translation.
struct SentenceForm {
  QStringList fixed;        // one more than placeholders; only the first and the last may be empty
  std::vector<int> places;  // the number of each placeholder
  QString translation;
  qsizetype length = 0;  // of the fixed text
};

/// Splits "paused after step %1; transferring %2".
SentenceForm formOf(const QString& source, const QString& translation) {
  SentenceForm form{{}, {}, translation, 0};
  qsizetype begin = 0;
  static const QRegularExpression placeholder(QStringLiteral("%([1-9])"));
  for (auto each = placeholder.globalMatch(source); each.hasNext();) {
    const auto match = each.next();
    form.fixed << source.mid(begin, match.capturedStart() - begin);
    form.places.push_back(match.captured(1).toInt());
    begin = match.capturedEnd();
  }
  form.fixed << source.mid(begin);
  for (const QString& text : form.fixed) form.length += text.size();
  return form;
}

/// What stands at the placeholders, in their order; nothing if the text has another form.
std::optional<QStringList> matched(const SentenceForm& form, const QString& text) {
  if (form.places.empty()) {
    return text == form.fixed.front() ? std::optional(QStringList()) : std::nullopt;
  }
  if (!text.startsWith(form.fixed.front()) || !text.endsWith(form.fixed.back())) return {};
  const qsizetype end = text.size() - form.fixed.back().size();
  qsizetype begin = form.fixed.front().size();
  QStringList parts;
  for (qsizetype i = 1; i + 1 < form.fixed.size(); ++i) {
    const qsizetype at = text.indexOf(form.fixed[i], begin + 1);
    if (at < 0) return {};
    parts << text.mid(begin, at - begin);
    begin = at + form.fixed[i].size();
  }
  if (begin >= end) return {};
  parts << text.mid(begin, end - begin);
  return parts;
}

/// "4 GPUs", "1 step", "0.31 s", "n0 out": amounts and ports, which no sentence lists.
std::optional<QString> localizedAmount(const QString& text) {
  static const QRegularExpression counted(QStringLiteral("^(\\d+) (GPU|device|node|step)s?$"));
  static const QRegularExpression number(QStringLiteral("^(\\d+)\\.(\\d+)( [^\\s.]+)?$"));
  if (const auto match = counted.match(text); match.hasMatch()) {
    const qint64 count = match.captured(1).toLongLong();
    if (match.captured(2) == QLatin1String("node")) return format::nodes(count);
    return match.captured(2) == QLatin1String("step") ? format::steps(count) : format::gpus(count);
  }
  if (const auto match = number.match(text); match.hasMatch()) {
    return match.captured(1) + QLocale().decimalPoint() + match.captured(2) + match.captured(3);
  }
  return {};
}

class SentenceBook {
 public:
  /// Of the installed translation; a translation that is installed later makes a new book.
  static SentenceBook& current() {
    static SentenceBook book;
    const QString mark = translated(knownSentences().front());
    if (mark != book.m_mark) {
      book = SentenceBook();
      book.m_mark = mark;
      if (mark != QLatin1String(knownSentences().front())) book.fill();
    }
    return book;
  }

  QString localize(const QString& sentence) {
    if (m_forms.empty()) return sentence;
    if (const auto known = m_cache.constFind(sentence); known != m_cache.cend()) return *known;
    if (m_cache.size() >= kMostCached) m_cache.clear();
    return m_cache[sentence] = localize(sentence, 0);
  }

 private:
  static QString translated(const char* source) {
    return QCoreApplication::translate("Sentences", source);
  }

  void fill() {
    for (const char* source : knownSentences()) {
      m_forms.push_back(formOf(QString::fromUtf8(source), translated(source)));
    }
    // "paused after step %1; transferring %2" before "paused after step %1".
    std::ranges::stable_sort(m_forms, std::ranges::greater(), &SentenceForm::length);
  }

  QString localize(const QString& text, int depth) const {
    if (depth > kMostNested) return text;
    if (const auto amount = localizedAmount(text)) return *amount;
    for (const SentenceForm& form : m_forms) {
      if (const auto parts = matched(form, text)) return filled(form, *parts, depth);
    }
    // "… (ana)": who requested it.
    if (const qsizetype open = text.lastIndexOf(QLatin1String(" ("));
        open > 0 && text.endsWith(u')')) {
      const QString words = text.left(open);
      if (QString done = localize(words, depth + 1); done != words) return done + text.mid(open);
    }
    // "This; that."
    if (text.endsWith(u'.')) {
      const QString words = text.chopped(1);
      const QString done = localize(words, depth + 1);
      return done == words ? text : done + u'.';
    }
    const qsizetype end = text.indexOf(QLatin1String("; "));
    if (end <= 0) return text;
    return localize(text.left(end), depth + 1) + QLatin1String("; ") +
           localize(text.mid(end + 2), depth + 1);
  }

  QString filled(const SentenceForm& form, const QStringList& parts, int depth) const {
    static const QRegularExpression placeholder(QStringLiteral("%([1-9])"));
    QString out;
    qsizetype begin = 0;
    for (auto each = placeholder.globalMatch(form.translation); each.hasNext();) {
      const auto match = each.next();
      out += form.translation.mid(begin, match.capturedStart() - begin);
      const auto at = std::ranges::find(form.places, match.captured(1).toInt());
      if (at != form.places.end()) {
        out += localize(parts[static_cast<qsizetype>(at - form.places.begin())], depth + 1);
      }
      begin = match.capturedEnd();
    }
    return out + form.translation.mid(begin);
  }

  QString m_mark = QString::fromUtf8(knownSentences().front());
  std::vector<SentenceForm> m_forms;  // the most specific first; none in English
  QHash<QString, QString> m_cache;
};

}  // namespace

QString capitalized(QString sentence) {
  static const QRegularExpression word(QStringLiteral("^(\\p{Ll}[\\p{L}']*)(?=[\\s.,:;]|$)"));
  static const QRegularExpression axis(QStringLiteral("^(dp|tp|pp|ep|cp)$"));
  const auto first = word.match(sentence);
  if (first.hasMatch() && !axis.match(first.captured(1)).hasMatch())
    sentence[0] = sentence[0].toUpper();
  return sentence;
}

QString localized(const QString& sentence) { return SentenceBook::current().localize(sentence); }

QString localized(std::string_view sentence) {
  return localized(QString::fromUtf8(sentence.data(), static_cast<qsizetype>(sentence.size())));
}

QString localizedText(const engine::Event& event) {
  // "gpt-mini n0g1" writes what its program printed.
  static const QRegularExpression output(QStringLiteral(" n\\d+g\\d+$"));
  const QString source = QString::fromStdString(event.source);
  if (source.contains(output)) return QString::fromStdString(event.text);
  return localized(event.text);
}

QString localizedCheck(std::string_view name) {
  return QCoreApplication::translate("Checks", std::string(name).c_str());
}

}  // namespace tessera::ui
