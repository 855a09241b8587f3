// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/key_values.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QStyle>
#include <algorithm>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kKeptLetters = 19;     // a key up to this is never wrapped in favour of its value
constexpr double kMostOfKeys = 0.5;  // of the width; a longer key is wrapped

/// A key on one line, or on several if it is long, so that its value keeps room.
class KeyLabel : public QLabel {
 public:
  explicit KeyLabel(QWidget* parent) : QLabel(parent) { setWordWrap(true); }
  QSize sizeHint() const override {
    int width = fontMetrics().horizontalAdvance(text()) + 2;
    if (parentWidget()->testAttribute(Qt::WA_Resized)) {  // else its width means nothing yet
      width = std::min(width, static_cast<int>(kMostOfKeys * parentWidget()->width()));
    }
    return {width, heightForWidth(width)};
  }
  QSize minimumSizeHint() const override {
    const QSize widestWord = QLabel::minimumSizeHint();
    const int kept = std::min(sizeHint().width(), kKeptLetters * fontMetrics().averageCharWidth());
    return {std::max(kept, widestWord.width()), widestWord.height()};
  }
};

/// Sets the least height of its parent when that is shown, because the height of wrapped texts is
/// only known once they have their width.
class WholeHeight : public QObject {
 public:
  explicit WholeHeight(QWidget* dialog) : QObject(dialog) {}
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Show) {
      auto* dialog = static_cast<QWidget*>(watched);
      dialog->layout()->activate();
      dialog->setMinimumHeight(dialog->layout()->totalHeightForWidth(dialog->width()));
    }
    return QObject::eventFilter(watched, event);
  }
};

}  // namespace

void setRole(QWidget* widget, const QString& role) {
  if (widget->property("role").toString() == role) return;
  widget->setProperty("role", role);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

QLabel* wrappingLabel(const QString& role, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  setRole(label, role);
  return label;
}

void keepWholeHeight(QWidget& dialog) { dialog.installEventFilter(new WholeHeight(&dialog)); }

KeyValues::KeyValues(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(10);
  m_grid->setVerticalSpacing(6);
  m_grid->setColumnStretch(1, 1);
}

void KeyValues::setRows(const std::vector<Row>& rows) {
  if (rows == m_rows) return;
  m_rows = rows;
  while (m_labels.size() < rows.size()) {
    const int row = static_cast<int>(m_labels.size());
    auto* key = new KeyLabel(this);
    key->setProperty("role", QStringLiteral("hint"));
    key->setContentsMargins(0, 1, 0, 0);
    key->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* value = new QLabel(this);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setWordWrap(true);
    value->setFont(uiFont(12));
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_grid->addWidget(key, row, 0);
    m_grid->addWidget(value, row, 1);
    m_labels.push_back({key, value});
  }
  for (std::size_t i = 0; i < m_labels.size(); ++i) {
    const bool shown = i < rows.size();
    m_labels[i].key->setVisible(shown);
    m_labels[i].value->setVisible(shown);
    if (!shown) continue;
    m_labels[i].key->setText(rows[i].key);
    m_labels[i].value->setText(rows[i].value);
    m_labels[i].value->setToolTip(rows[i].toolTip);
    m_labels[i].value->setAccessibleName(rows[i].key + QLatin1Char(' ') + rows[i].value);
    setRole(m_labels[i].value, rows[i].role.isEmpty() ? QStringLiteral("value") : rows[i].role);
  }
}

void KeyValues::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  for (const Labels& labels : m_labels) labels.key->updateGeometry();
}

QString KeyValues::value(const QString& key) const {
  for (const Row& row : m_rows) {
    if (row.key == key) return row.value;
  }
  return {};
}

}  // namespace tessera::ui
