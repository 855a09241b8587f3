// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/widget_checks.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenuBar>
#include <QRegularExpression>
#include <QStyleOptionComboBox>
#include <QTabBar>
#include <QTableView>
#include <QTextDocument>
#include <QToolButton>
#include <QTreeView>

#include "engine/cluster/snapshot.h"
#include "ui/canvas/mesh_view.h"
#include "ui/views/link_canvas.h"
#include "ui/views/tensor_canvas.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/elided_label.h"

namespace tessera::test {
namespace {

constexpr int kSpareRoom = 4;  // of a button around its text, which may be smaller than usual
constexpr int kMostRows = 40;  // of a table, whose texts are read

QString shortened(QString text) { return text.replace(u'\n', u' ').left(70); }

QString pathOf(const QWidget* widget) {
  QStringList names;
  for (; widget != nullptr && names.size() < 3; widget = widget->parentWidget()) {
    names.prepend(QString::fromLatin1(widget->metaObject()->className()).section(u':', -1));
  }
  return names.join(u'/');
}

bool isQtsOwn(const QWidget* widget) {
  const QString name = widget->objectName();
  return name.startsWith(u"qt_") || name.startsWith(u"Scroll");
}

/// The widgets below `top` that a user sees, and `top` itself.
QList<QWidget*> shown(const QWidget& top) {
  QList<QWidget*> out;
  for (QWidget* widget : top.findChildren<QWidget*>()) {
    if (widget->isVisibleTo(&top) && widget->window() == &top && !isQtsOwn(widget)) out << widget;
  }
  return out;
}

/// The width of the widest word and, of a text that does not wrap, of the widest line.
double neededWidth(const QLabel& label) {
  QString text = label.text();
  if (Qt::mightBeRichText(text)) {
    QTextDocument document;
    document.setHtml(text);
    text = document.toPlainText();
  }
  static const QRegularExpression blanks(QStringLiteral("\\s+"));
  const QStringList parts = label.wordWrap() ? text.split(blanks) : text.split(u'\n');
  double width = 0;
  for (const QString& part : parts) {
    width = std::max(width, QFontMetricsF(label.font()).horizontalAdvance(part));
  }
  return width;
}

class Clipping {
 public:
  explicit Clipping(const QWidget& top) : m_top(top) {}

  void look(const QWidget* widget) {
    if (const auto* label = qobject_cast<const QLabel*>(widget)) lookAt(*label);
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) lookAt(*button);
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) lookAt(*box);
    if (const auto* bar = qobject_cast<const QTabBar*>(widget)) lookAt(*bar);
    if (const auto* bar = qobject_cast<const QMenuBar*>(widget)) lookAt(*bar);
    if (const auto* spin = qobject_cast<const QAbstractSpinBox*>(widget)) lookAt(*spin);
    if (const auto* header = qobject_cast<const QHeaderView*>(widget)) lookAt(*header);
  }
  QStringList found() const { return m_found; }

 private:
  void report(const QWidget* widget, const QString& text, const QString& what) {
    m_found << QStringLiteral("%1 \"%2\": %3").arg(pathOf(widget), shortened(text), what);
  }
  void needs(const QWidget* widget, const QString& text, double have, double need,
             const char* side) {
    if (have + 1 >= need) return;
    report(widget, text,
           QStringLiteral("%1 %2 of %3").arg(QLatin1String(side)).arg(have).arg(std::ceil(need)));
  }
  /// A widget must be inside of every widget around it, up to what scrolls.
  void inside(const QWidget* widget, const QString& text) {
    QRect rect = widget->rect();
    for (const QWidget* each = widget; each != &m_top; each = each->parentWidget()) {
      rect.translate(each->pos());
      const QWidget* parent = each->parentWidget();
      const auto* area = qobject_cast<const QAbstractScrollArea*>(parent->parentWidget());
      const bool scrolls = area != nullptr && area->viewport() == parent;
      if (scrolls && area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff) return;
      QRect around = parent->rect().adjusted(-1, -1, 1, 1);
      if (scrolls) around = QRect(around.left(), rect.top(), around.width(), rect.height());
      if (!around.contains(rect)) {
        report(widget, text,
               QStringLiteral("outside of %1 by %2 right, %3 below")
                   .arg(QString::fromLatin1(parent->metaObject()->className()))
                   .arg(rect.right() - parent->width() + 1)
                   .arg(rect.bottom() - parent->height() + 1));
        return;
      }
      if (scrolls) return;
    }
  }

  void lookAt(const QLabel& label) {
    if (label.text().isEmpty() || qobject_cast<const ui::ElidedLabel*>(&label) != nullptr) return;
    const QMargins margins = label.contentsMargins();
    const double width = label.width() - margins.left() - margins.right();
    needs(&label, label.text(), width, neededWidth(label), "width");
    const int height =
        label.wordWrap() ? label.heightForWidth(label.width()) : label.minimumSizeHint().height();
    needs(&label, label.text(), label.height(), height, "height");
    inside(&label, label.text());
  }
  void lookAt(const QAbstractButton& button) {
    const auto* tool = qobject_cast<const QToolButton*>(&button);
    if (button.text().isEmpty() ||
        (tool != nullptr && tool->toolButtonStyle() == Qt::ToolButtonIconOnly)) {
      return;
    }
    const QSize have = button.size() + QSize(kSpareRoom, kSpareRoom);
    needs(&button, button.text(), have.width(), button.sizeHint().width(), "width");
    needs(&button, button.text(), have.height(), button.sizeHint().height(), "height");
    inside(&button, button.text());
  }
  void lookAt(const QComboBox& box) {
    QStyleOptionComboBox option;
    option.initFrom(&box);
    const QRect field = box.style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                    QStyle::SC_ComboBoxEditField, &box);
    needs(&box, box.currentText(), field.width(),
          box.fontMetrics().horizontalAdvance(box.currentText()), "width");
    inside(&box, box.currentText());
  }
  void lookAt(const QAbstractSpinBox& spin) {
    const auto* edit = spin.findChild<QLineEdit*>();
    if (edit == nullptr) return;
    needs(&spin, spin.text(), edit->width(), edit->fontMetrics().horizontalAdvance(spin.text()),
          "width");
  }
  void lookAt(const QTabBar& bar) {
    for (int i = 0; i < bar.count(); ++i) {
      if (!bar.isTabVisible(i)) continue;
      const QRect rect = bar.tabRect(i);
      needs(&bar, bar.tabText(i), rect.width(), bar.fontMetrics().horizontalAdvance(bar.tabText(i)),
            "width");
      if (!bar.rect().adjusted(0, 0, 1, 0).contains(rect)) {
        report(&bar, bar.tabText(i),
               QStringLiteral("ends at %1 of %2").arg(rect.right() + 1).arg(bar.width()));
      }
    }
  }
  void lookAt(const QMenuBar& bar) {
    for (QAction* action : bar.actions()) {
      if (action->isVisible() && !bar.rect().contains(bar.actionGeometry(action))) {
        report(&bar, action->text(), QStringLiteral("outside of the bar"));
      }
    }
  }
  void lookAt(const QHeaderView& header) {
    if (header.model() == nullptr || header.orientation() == Qt::Vertical) return;
    for (int i = 0; i < header.count(); ++i) {
      const QString text = header.model()->headerData(i, Qt::Horizontal).toString();
      if (header.isSectionHidden(i) || text.isEmpty()) continue;
      needs(&header, text, header.sectionSize(i), header.fontMetrics().horizontalAdvance(text),
            "width");
    }
  }

  const QWidget& m_top;
  QStringList m_found;
};

/// Goes through all texts of widgets.
class Texts {
 public:
  virtual ~Texts() = default;
  virtual void look(const QObject* object, const char* what, const QString& text) = 0;
  void look(const QWidget* widget) {
    look(widget, "window title", widget->windowTitle());
    look(widget, "tool tip", widget->toolTip());
    look(widget, "accessible name", widget->accessibleName());
    // A command is in the language of the command line.
    if (qobject_cast<const ui::CopyLine*>(widget) == nullptr) {
      look(widget, "accessible description", widget->accessibleDescription());
    }
    if (const auto* label = qobject_cast<const QLabel*>(widget)) look(label, "text", label->text());
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      look(button, "text", button->text());
    }
    if (const auto* edit = qobject_cast<const QLineEdit*>(widget)) {
      look(edit, "placeholder", edit->placeholderText());
    }
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
      for (int i = 0; i < box->count(); ++i) look(box, "item", box->itemText(i));
    }
    if (const auto* bar = qobject_cast<const QTabBar*>(widget)) {
      for (int i = 0; i < bar->count(); ++i) look(bar, "tab", bar->tabText(i));
    }
    if (const auto* view = qobject_cast<const QAbstractItemView*>(widget)) lookAt(*view);
    for (const QAction* action : widget->actions()) {
      // Lessons are files of their own, translated as a whole.
      if (action->objectName().startsWith(QLatin1String("learn."))) continue;
      look(action, "text", action->text());
      look(action, "status tip", action->statusTip());
      look(action, "tool tip", action->toolTip());
    }
  }

 private:
  void lookAt(const QAbstractItemView& view) {
    const QAbstractItemModel* model = view.model();
    if (model == nullptr || qobject_cast<const QHeaderView*>(&view) != nullptr ||
        qobject_cast<const QComboBox*>(view.parentWidget()) != nullptr) {
      return;
    }
    if (qobject_cast<const QTableView*>(&view) || qobject_cast<const QTreeView*>(&view)) {
      for (int column = 0; column < model->columnCount(); ++column) {
        look(&view, "heading", model->headerData(column, Qt::Horizontal).toString());
      }
    }
    lookBelow(view, {});
  }
  void lookBelow(const QAbstractItemView& view, const QModelIndex& parent) {
    const QAbstractItemModel* model = view.model();
    for (int row = 0; row < std::min(kMostRows, model->rowCount(parent)); ++row) {
      for (int column = 0; column < model->columnCount(parent); ++column) {
        const QModelIndex index = model->index(row, column, parent);
        look(&view, "cell", index.data().toString());
        look(&view, "tool tip of a cell", index.data(Qt::ToolTipRole).toString());
        look(&view, "accessible text of a cell", index.data(Qt::AccessibleTextRole).toString());
      }
      lookBelow(view, model->index(row, 0, parent));
    }
  }
};

class AllTexts : public Texts {
 public:
  using Texts::look;
  void look(const QObject*, const char*, const QString& text) override {
    if (!text.isEmpty()) m_texts << text;
  }
  QStringList texts() const { return m_texts; }

 private:
  QStringList m_texts;
};

class Words : public Texts {
 public:
  using Texts::look;
  explicit Words(const QStringList& data) {
    for (const QString& text : data) collect(text, &m_data);
  }

  void look(const QObject* object, const char* what, const QString& text) override {
    QStringList words;
    collect(text, &words);
    words.removeIf([this](const QString& word) { return m_data.contains(word); });
    words.removeDuplicates();
    if (words.isEmpty()) return;
    m_found << QStringLiteral("%1 of %2 '%3' \"%4\": %5")
                   .arg(QLatin1String(what), QLatin1String(object->metaObject()->className()),
                        object->objectName(), shortened(text), words.join(u' '));
  }
  QStringList found() const { return m_found; }

 private:
  /// Words of plain letters only: names have digits, dots, dashes or slashes in them.
  static void collect(const QString& text, QStringList* out) {
    static const QRegularExpression markup(QStringLiteral("<[^>]*>|&[a-z]+;"));
    static const QRegularExpression blanks(QStringLiteral("[\\s…→←·×]+"));
    static const QRegularExpression word(QStringLiteral("^[\\W_]*([A-Za-z]{3,})[\\W_]*$"));
    QString plain = text;
    for (const QString& part : plain.replace(markup, QStringLiteral(" ")).split(blanks)) {
      if (const auto match = word.match(part); match.hasMatch()) *out << match.captured(1);
    }
  }

  QStringList m_data;
  QStringList m_found;
};

}  // namespace

QStringList clippedTexts(const QWidget& top) {
  Clipping clipping(top);
  for (const QWidget* widget : shown(top)) clipping.look(widget);
  return clipping.found();
}

QStringList untranslatedTexts(const QWidget& top, const QStringList& data) {
  Words words(data);
  words.look(&top);
  for (const QWidget* widget : shown(top)) words.look(widget);
  return words.found();
}

QStringList textsOf(const QWidget& top) {
  AllTexts all;
  all.look(&top);
  for (const QWidget* widget : shown(top)) all.look(widget);
  QStringList texts = all.texts();
  texts.removeDuplicates();
  return texts;
}

QString wrongWords(const QString& text) {
  static const QStringList names = [] {
    QStringList all;
    const auto add = [&](std::string_view name) {
      const QString word = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
      if (word.contains(u'_')) all << word;
    };
    for (int i = 0; i <= static_cast<int>(engine::TxnPhase::kInDoubt); ++i)
      add(ToString(static_cast<engine::TxnPhase>(i)));
    for (int i = 0; i <= static_cast<int>(engine::JobState::kUnknown); ++i)
      add(ToString(static_cast<engine::JobState>(i)));
    for (int i = 0; i <= static_cast<int>(engine::ChangeKind::kBegin); ++i)
      add(ToString(static_cast<engine::ChangeKind>(i)));
    for (int i = 0; i <= static_cast<int>(engine::LossCase::kCheckpointOnly); ++i)
      add(ToString(static_cast<engine::LossCase>(i)));
    return all;
  }();
  for (const QString& name : names)
    if (text.contains(name)) return QStringLiteral("the name '%1'").arg(name);
  static const QRegularExpression twice(QStringLiteral("\\b(\\w{3,}): \\1\\b"));
  static const QRegularExpression axis(QStringLiteral("\\b(Dp|Tp|Pp|Ep|Cp)\\b"));
  static const QRegularExpression same(QStringLiteral("(\\d+ × \\d+ × \\d+) → \\1(?!\\d)"));
  for (const auto& [form, what] : {std::pair(&twice, "a word twice"), std::pair(&axis, "an axis"),
                                   std::pair(&same, "a change to the same")})
    if (form->match(text).hasMatch()) return QString::fromLatin1(what);
  return {};
}

QStringList namelessWidgets(const QWidget& top) {
  QStringList found;
  for (const QWidget* widget : shown(top)) {
    const bool interactive =
        qobject_cast<const QAbstractButton*>(widget) ||
        qobject_cast<const QAbstractItemView*>(widget) ||
        qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
        qobject_cast<const QComboBox*>(widget) || qobject_cast<const ui::MeshView*>(widget) ||
        qobject_cast<const ui::LinkCanvas*>(widget) ||
        qobject_cast<const ui::TensorCanvas*>(widget);
    const QWidget* parent = widget->parentWidget();
    const bool part = (qobject_cast<const QLineEdit*>(widget) != nullptr &&
                       (qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
                        qobject_cast<const QComboBox*>(parent) != nullptr)) ||
                      qobject_cast<const QLineEdit*>(parent) != nullptr ||
                      qobject_cast<const QTableView*>(parent) != nullptr ||
                      qobject_cast<const QTabBar*>(parent) != nullptr ||
                      qobject_cast<const QHeaderView*>(widget) != nullptr;
    if (!interactive || part) continue;
    // What a screen reader says: of a button without a name of its own, its text.
    QAccessibleInterface* said =
        QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
    if (said == nullptr || said->text(QAccessible::Name).isEmpty()) found << pathOf(widget);
  }
  return found;
}

}  // namespace tessera::test
