// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style_sheet.h"

#include <QRegularExpression>
#include <array>
#include <utility>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

// `@name` is a colour of the theme. Font sizes are in points (0.75 of a logical pixel), because
// style sheets round pixels to integers.
const char* const kTemplate = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QMenuBar { background: @window; padding: 2px 4px; border: none; }
QMenuBar::item { padding: 3px 9px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @soft; }
QMenu { background: @cell; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 28px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QToolTip { background: @cell; color: @text; border: 1px solid @line; padding: 4px 6px; }

QToolBar { background: @panel; border: none; border-bottom: 1px solid @line; padding: 4px 12px;
  spacing: 8px; }
QToolBar::separator { background: @line; width: 1px; margin: 6px 4px; }
QStatusBar { background: @window; border-top: 1px solid @line; color: @dim; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @dim; font-size: 8.6pt; }
QDockWidget { color: @text; font-weight: 600; }
QDockWidget::title { background: @panel; padding: 9px 16px 7px 16px; text-align: left; }

QPushButton { background: @cell; color: @text; border: 1px solid @line; border-radius: 6px;
  padding: 0px 14px; min-height: 26px; font-weight: 500; }
QPushButton:hover { background: @soft; }
QPushButton:pressed { background: @line; }
QPushButton:focus { border-color: @accent; }
QPushButton:checked { background: @accentSoft; color: @accent; border-color: @accent; }
QPushButton:disabled { background: @soft; color: @faint; border-color: @line; }
QPushButton[primary="true"] { background: @accent; color: @onAccent; border-color: @accent;
  font-weight: 600; }
QPushButton[primary="true"]:hover { background: @accentHover; border-color: @accentHover; }
QPushButton[primary="true"]:pressed { background: @accentDown; border-color: @accentDown; }
QPushButton[primary="true"]:focus { border: 2px solid @text; padding: 0px 13px; min-height: 24px; }
QPushButton[primary="true"]:disabled { background: @soft; color: @faint; border-color: @line; }
QPushButton:flat { background: transparent; border: 1px solid transparent; color: @accent;
  padding: 0px 4px; }
QPushButton:flat:hover { background: @accentSoft; }
QPushButton:flat:focus { border-color: @accent; }
QPushButton:flat:disabled { color: @faint; background: transparent; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px;
  padding: 3px 9px; color: @text; }
QToolButton:hover { background: @soft; }
QToolButton:checked { background: @cell; border-color: @line; font-weight: 600; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @faint; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit { background: @cell;
  color: @text; border: 1px solid @line; border-radius: 6px;
  selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit, QSpinBox, QDoubleSpinBox { padding: 0px 8px; min-height: 26px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right;
  width: 20px; border: none; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border;
  subcontrol-position: bottom right; width: 20px; border: none; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(:/tessera/icons/chevron-up.svg);
  width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(:/tessera/icons/chevron-down.svg);
  width: 10px; height: 10px; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover { background: @soft; }
QComboBox { padding: 0px 8px; min-height: 26px; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url(:/tessera/icons/chevron-down.svg); width: 10px; height: 10px; }
QComboBox[flat="true"] { background: transparent; border-color: transparent; font-weight: 500; }
QComboBox[flat="true"]:hover { background: @soft; }
QComboBox[flat="true"]:focus { border-color: @accent; }
QComboBox QAbstractItemView { background: @cell; border: 1px solid @line; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus,
QTextEdit:focus { border-color: @accent; }
QSpinBox[wrong="true"], QLineEdit[wrong="true"] { border: 2px solid @bad; padding: 0px 7px; min-height: 24px; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  background: @soft; color: @faint; }
QCheckBox, QRadioButton { spacing: 7px; padding: 2px; border: 1px solid transparent;
  border-radius: 4px; }
QCheckBox::indicator { width: 13px; height: 13px; border: 1px solid @faint; border-radius: 3px;
  background: @cell; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent;
  image: url(:/tessera/icons/tick-@tone.svg); }
QCheckBox::indicator:disabled { background: @soft; border-color: @line; }
QCheckBox:focus, QRadioButton:focus { border-color: @accent; }

QAbstractItemView { background: @panel; border: none; outline: none;
  selection-background-color: @accentSoft; selection-color: @text; }
QTableView, QTreeView, QListView { background: @panel; alternate-background-color: @frame;
  gridline-color: @soft; }
QTableView::item, QTreeView::item, QListView::item { padding: 3px 6px; border: none; }
QTreeView::item { min-height: 18px; }
QTableView::item:hover, QTreeView::item:hover, QListView::item:hover { background: @soft; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {
  background: @accentSoft; color: @text; }
QTableView::item:focus, QTreeView::item:focus, QListView::item:focus {
  border: 1px solid @accent; }
QTreeView[rowFocus="true"]::item:focus { border: none; }
QHeaderView { background: @panel; border: none; }
QHeaderView::section { background: @panel; color: @dim; border: none;
  border-bottom: 1px solid @line; padding: 4px 9px; font-size: 8.25pt; font-weight: 500; }
QTableCornerButton::section { background: @panel; border: none; }

QTabWidget::pane { border: none; border-top: 1px solid @line; }
QTabBar { background: transparent; border: none; }
QTabBar::tab { background: transparent; color: @dim; border: none;
  border-bottom: 3px solid transparent; padding: 8px 4px 6px 4px; margin: 0px 9px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; font-weight: 600; border-bottom: 3px solid @accent; }
QTabBar::tab:focus { color: @accent; }
QTabBar::tab:disabled { color: @faint; }

QGroupBox { border: none; margin-top: 24px; padding: 0px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; subcontrol-position: top left; left: 0px;
  padding: 2px 0px; color: @text; }
QFrame[frameShape="4"], QFrame[frameShape="5"] { color: @line; }

QProgressBar { background: @track; border: none; border-radius: 4px; min-height: 8px;
  max-height: 8px; text-align: center; color: transparent; }
QProgressBar::chunk { background: @accent; border-radius: 4px; }

QScrollBar:vertical { background: transparent; width: 12px; margin: 0px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0px; }
QScrollBar::handle { background: @line; border-radius: 4px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 28px; margin-left: 4px; border-radius: 3px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QFrame#lessonCard { background: @cell; border: 1px solid @line; border-radius: 8px; }
QLabel[role="title"] { font-size: 11.25pt; font-weight: 600; }
QLabel[role="heading"] { font-size: 9.75pt; font-weight: 600; }
QLabel[role="group"] { font-size: 7.9pt; font-weight: 600; color: @dim; }
QLabel[role="caption"] { font-size: 7.9pt; color: @dim; }
QLabel[role="number"] { font-size: 10.5pt; font-weight: 600; }
QLabel[role="hint"] { font-size: 8.6pt; color: @dim; }
QLabel[role="badge"] { font-size: 7.9pt; font-weight: 600; color: @accent; background: @accentSoft; border-radius: 8px; padding: 2px 8px; }
QLabel[role="ok"] { color: @ok; font-weight: 500; }
QLabel[role="warn"] { color: @warn; font-weight: 500; }
QLabel[role="bad"] { color: @bad; font-weight: 500; }
QLabel[role="problem"] { font-size: 7.9pt; color: @bad; font-weight: 500; }
QLabel[role="accent"] { color: @accent; font-weight: 500; }
)";

}  // namespace

QString styleSheet(const Theme& theme) {
  const QColor contrastInk = ink(theme.accent);
  const std::array<std::pair<QString, QColor>, 19> colors{{
      {QStringLiteral("window"), theme.window},
      {QStringLiteral("panel"), theme.panel},
      {QStringLiteral("canvas"), theme.canvas},
      {QStringLiteral("line"), theme.line},
      {QStringLiteral("soft"), theme.soft},
      {QStringLiteral("text"), theme.text},
      {QStringLiteral("dim"), theme.dim},
      {QStringLiteral("faint"), theme.faint},
      {QStringLiteral("accent"), theme.accent},
      {QStringLiteral("accentSoft"), theme.accentSoft},
      {QStringLiteral("ok"), theme.ok},
      {QStringLiteral("warn"), theme.warn},
      {QStringLiteral("bad"), theme.bad},
      {QStringLiteral("frame"), theme.frame},
      {QStringLiteral("cell"), theme.cell},
      {QStringLiteral("track"), theme.track},
      {QStringLiteral("onAccent"), contrastInk},
      // Hover and press move away from the label's colour, so its contrast never falls.
      {QStringLiteral("accentHover"),
       blend(theme.isDark ? QColor(Qt::white) : QColor(Qt::black), theme.accent, 0.10)},
      {QStringLiteral("accentDown"),
       blend(theme.isDark ? QColor(Qt::white) : QColor(Qt::black), theme.accent, 0.20)},
  }};
  QString source = QString::fromUtf8(kTemplate);
  // The tick in the colour with more contrast on the accent.
  source.replace(QStringLiteral("@tone"), contrastInk == QColor(Qt::white)
                                              ? QStringLiteral("light")
                                              : QStringLiteral("dark"));
  static const QRegularExpression token(QStringLiteral("@([A-Za-z]+)"));
  QString sheet;
  qsizetype at = 0;
  for (auto it = token.globalMatch(source); it.hasNext();) {
    const auto match = it.next();
    sheet += QStringView(source).mid(at, match.capturedStart() - at);
    for (const auto& [name, color] : colors) {
      if (name == match.capturedView(1)) sheet += color.name();
    }
    at = match.capturedEnd();
  }
  sheet += QStringView(source).mid(at);
  return sheet;
}

}  // namespace tessera::ui
