// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/answer_dialog.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/dialogs/spinner.h"
#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kAnswerRowHeight = 26;
constexpr int kMostColumnWidth = 320;
constexpr int kColumnGap = 18;

/// The marked row is strong; all are dimmed while the table is disabled.
class AnswerDelegate : public QuietDelegate {
 public:
  AnswerDelegate(const TextTableModel& model, QWidget* table)
      : QuietDelegate(table), m_model(model), m_of(table) {}

 protected:
  QColor colorOf(const QModelIndex&) const override {
    return m_of->isEnabled() ? Theme::current().text : Theme::current().faint;
  }
  QFont::Weight weightOf(const QModelIndex& index) const override {
    return index.row() == m_model.marked() ? QFont::DemiBold : QFont::Normal;
  }

 private:
  const TextTableModel& m_model;
  const QWidget* m_of;
};

}  // namespace

AnswerDialog::AnswerDialog(const Texts& texts, Ask ask, QWidget* parent, Idle)
    : Dialog(parent),
      m_texts(texts),
      m_ask(std::move(ask)),
      m_words(wrappingLabel(QString(), this)),
      m_spinner(new Spinner(this)),
      m_table(new QTableView(this)),
      m_filler(new QWidget(this)),
      m_command(new CopyLine(tr("command"), tr("Copy as command"), this)),
      m_copy(new QPushButton(tr("Copy"), this)),
      m_again(new QPushButton(texts.again, this)) {
  setWindowTitle(texts.title);
  m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table->setAccessibleName(texts.title);
  m_table->setModel(&m_model);
  m_table->setItemDelegate(new AnswerDelegate(m_model, m_table));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  makeQuiet(*m_table, kAnswerRowHeight);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_command->setText(texts.command);
  m_command->setVisible(!texts.command.isEmpty());
  m_copy->setAccessibleName(tr("Copy the answer"));
  auto* close = new QPushButton(tr("Close"), this);
  close->setDefault(true);
  close->setFocus();

  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(m_spinner);
  top->addWidget(m_words, 1);
  m_controls = new QHBoxLayout;
  m_controls->setSpacing(10);
  auto* row = new QHBoxLayout;
  m_buttons = row;
  row->setSpacing(10);
  row->addWidget(m_again);
  row->addWidget(m_copy);
  row->addStretch();
  row->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 16);
  column->setSpacing(12);
  column->addLayout(top);
  column->addLayout(m_controls);
  column->addWidget(m_table, 1);
  column->addWidget(m_filler, 1);
  column->addWidget(m_command);
  column->addLayout(row);
  resize(720, 420);

  connect(m_copy, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(m_shown.copied.isEmpty() ? m_model.asText()
                                                                   : m_shown.copied);
  });
  connect(m_again, &QPushButton::clicked, this, &AnswerDialog::ask);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &AnswerDialog::refresh);
  refresh();
}

AnswerDialog::AnswerDialog(const Texts& texts, Ask question, QWidget* parent)
    : AnswerDialog(texts, std::move(question), parent, Idle{}) {
  ask();
}

AnswerDialog* AnswerDialog::idle(const Texts& texts, const QString& words, Ask question,
                                 QWidget* parent) {
  auto* dialog = new AnswerDialog(texts, std::move(question), parent, Idle{});
  dialog->m_shown.words = words;
  dialog->refresh();
  return dialog;
}

QString AnswerDialog::words() const { return m_words->text(); }
QString AnswerDialog::command() const { return m_command->text(); }

void AnswerDialog::setQuestion(Ask ask, const QString& command) {
  m_ask = std::move(ask);
  m_command->setText(command);
}

QPushButton* AnswerDialog::addRowButton(const QString& text, std::function<void(int)> act) {
  auto* button = new QPushButton(text, this);
  connect(button, &QPushButton::clicked, this, [this, act = std::move(act)] {
    if (chosen() >= 0) act(chosen());
  });
  m_rowButtons.push_back(button);
  m_buttons->insertWidget(2 + static_cast<int>(m_rowButtons.size() + m_stopButtons.size()) - 1,
                          button);
  refresh();
  return button;
}

QPushButton* AnswerDialog::addStopButton(const QString& text, std::function<void()> act) {
  auto* button = new QPushButton(text, this);
  connect(button, &QPushButton::clicked, this, std::move(act));
  m_stopButtons.push_back(button);
  m_buttons->insertWidget(2 + static_cast<int>(m_rowButtons.size() + m_stopButtons.size()) - 1,
                          button);
  refresh();
  return button;
}

void AnswerDialog::addControl(QWidget* widget) { m_controls->addWidget(widget); }

void AnswerDialog::ask() {
  if (std::exchange(m_asking, true)) return;
  refresh();
  m_ask([self = QPointer<AnswerDialog>(this), question = ++m_question](Result<Shown> answer) {
    if (self && question == self->m_question) self->take(std::move(answer));
  });
}

void AnswerDialog::take(Result<Shown> answer) {
  m_asking = answer && answer->isPartial;
  m_problem = answer ? QString() : m_texts.failed.arg(format::error(answer.error()));
  if (answer) {
    m_shown = std::move(*answer);
    m_model.setTable(m_shown.table);
    fitColumns();
  }
  refresh();
}

void AnswerDialog::fitColumns() {
  QHeaderView* header = m_table->horizontalHeader();
  m_table->resizeColumnsToContents();
  for (int column = 0; column < m_model.columnCount(); ++column) {
    const TextTable::Title& title = m_shown.table.titles[static_cast<std::size_t>(column)];
    header->setSectionResizeMode(column,
                                 title.isWide ? QHeaderView::Stretch : QHeaderView::Interactive);
    m_table->setColumnWidth(column,
                            std::min(m_table->columnWidth(column) + kColumnGap, kMostColumnWidth));
  }
}

int AnswerDialog::chosen() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  return rows.isEmpty() ? -1 : rows.first().row();
}

void AnswerDialog::refresh() {
  const bool isFirst = m_asking && !m_shown.isPartial;
  m_words->setText(!m_problem.isEmpty() && !m_asking ? m_problem
                   : isFirst                         ? m_texts.waiting
                                                     : m_shown.words);
  setRole(m_words, isFirst               ? QString()
                   : m_problem.isEmpty() ? m_shown.role
                                         : QStringLiteral("bad"));
  m_spinner->setVisible(m_asking);
  m_spinner->setRunning(m_asking);
  m_table->setVisible(m_model.columnCount() > 0);
  m_filler->setVisible(m_model.columnCount() == 0);  // the words stay at the top
  m_table->setEnabled(!isFirst && m_problem.isEmpty());
  m_copy->setEnabled(!m_asking && (m_model.rowCount() > 0 || !m_shown.copied.isEmpty()));
  m_again->setEnabled(!m_asking);
  for (QPushButton* button : m_rowButtons) button->setEnabled(!m_asking && chosen() >= 0);
  for (QPushButton* button : m_stopButtons) button->setEnabled(m_asking);
}

}  // namespace tessera::ui
