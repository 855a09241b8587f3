// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/doctor_dialog.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/dialogs/spinner.h"
#include "ui/format.h"
#include "ui/icons.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kCheckRowHeight = 26;
constexpr int kIconSize = 14;

using Verdict = engine::Check::Verdict;

/// Paints the severity as icon and word. Passed checks are dimmed.
class CheckDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    option->state &= ~QStyle::State_HasFocus;  // rows are selected, not cells
    const Theme& theme = Theme::current();
    const auto verdict = static_cast<Verdict>(index.data(CheckTableModel::VerdictRole).toInt());
    const auto [name, tone] = look(verdict);
    QColor color = theme.text;
    if (verdict == Verdict::kOk || verdict == Verdict::kSkipped) color = theme.dim;
    if (index.column() == CheckTableModel::SeverityColumn) {
      color = tone;
      if (!name.isEmpty()) {
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->decorationSize = {kIconSize, kIconSize};
        option->icon = icon(name, tone);
      }
    }
    if (!option->state.testFlag(QStyle::State_Enabled)) color = theme.faint;
    option->font = uiFont(
        12, index.column() == CheckTableModel::FindingColumn ? QFont::Medium : QFont::Normal);
    for (const auto role : {QPalette::Text, QPalette::HighlightedText})
      option->palette.setColor(role, color);
  }

 private:
  static std::pair<QString, QColor> look(Verdict verdict) {
    const Theme& theme = Theme::current();
    switch (verdict) {
      case Verdict::kOk:
        return {QStringLiteral("check"), theme.ok};
      case Verdict::kWarning:
        return {QStringLiteral("warning"), theme.warn};
      case Verdict::kFailed:
        return {QStringLiteral("error"), theme.bad};
      case Verdict::kSkipped:
        return {QString(), theme.dim};
    }
    return {QString(), theme.dim};
  }
};

}  // namespace

DoctorDialog::DoctorDialog(ClusterCommands& commands, const QString& cluster, QWidget* parent)
    : Dialog(parent),
      m_commands(commands),
      m_cluster(cluster),
      m_words(new QLabel(this)),
      m_spinner(new Spinner(this)),
      m_table(new QTableView(this)),
      m_copy(new QPushButton(tr("Copy"), this)),
      m_again(new QPushButton(tr("Run again"), this)) {
  setWindowTitle(cluster.isEmpty() ? tr("Doctor") : tr("Doctor · %1").arg(cluster));
  m_words->setWordWrap(true);
  m_table->setObjectName(QStringLiteral("findings"));
  m_table->setAccessibleName(tr("Findings on the nodes"));
  m_table->setModel(&m_model);
  m_table->setItemDelegate(new CheckDelegate(m_table));
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  makeQuiet(*m_table, kCheckRowHeight);
  // Show remedies in full.
  m_table->setWordWrap(true);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->verticalHeader()->setMinimumSectionSize(kCheckRowHeight);
  QHeaderView* header = m_table->horizontalHeader();
  header->setHighlightSections(false);
  header->setSectionsClickable(false);
  header->setSectionResizeMode(CheckTableModel::ValueColumn, QHeaderView::Stretch);
  header->setSectionResizeMode(CheckTableModel::RemedyColumn, QHeaderView::Stretch);
  // Their words are longer in some languages.
  for (const auto column : {CheckTableModel::SeverityColumn, CheckTableModel::WhereColumn,
                            CheckTableModel::FindingColumn}) {
    header->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  }

  m_copy->setAccessibleName(tr("Copy the selected findings, or all"));
  m_again->setAccessibleName(tr("Check every node again"));
  auto* close = new QPushButton(tr("Close"), this);
  close->setAccessibleName(tr("Close the findings"));
  close->setDefault(true);

  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(m_spinner);
  top->addWidget(m_words, 1);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addWidget(m_again);
  buttons->addWidget(m_copy);
  buttons->addStretch();
  buttons->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 16);
  column->setSpacing(12);
  column->addLayout(top);
  column->addWidget(m_table, 1);
  column->addLayout(buttons);
  resize(900, 480);

  connect(m_copy, &QPushButton::clicked, this, &DoctorDialog::copy);
  connect(m_again, &QPushButton::clicked, this, &DoctorDialog::ask);
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  ask();
}

QString DoctorDialog::words() const { return m_words->text(); }

void DoctorDialog::ask() {
  if (std::exchange(m_asking, true)) return;
  refresh();
  m_commands.doctor(
      [self = QPointer<DoctorDialog>(this)](Result<std::vector<engine::Check>> result) {
        if (self) self->take(std::move(result));
      });
}

void DoctorDialog::take(Result<std::vector<engine::Check>> result) {
  m_asking = false;
  m_problem = result ? QString() : format::error(result.error());
  if (result) m_model.setChecks(std::move(*result));
  refresh();
}

void DoctorDialog::refresh() {
  const int count = m_model.rowCount();
  const int problems = m_model.problems();
  const QString findings = count == 1 ? tr("1 finding") : tr("%1 findings").arg(count);
  QString words;
  QString role;
  if (m_asking) {
    words = tr("Checking every node…");
  } else if (!m_problem.isEmpty()) {
    words = tr("The nodes could not be checked: %1.").arg(m_problem);
    role = QStringLiteral("bad");
  } else if (count == 0) {
    words = tr("No node answered.");
    role = QStringLiteral("warn");
  } else if (problems == 0) {
    words = tr("%1, no problems.").arg(findings);
    role = QStringLiteral("ok");
  } else {
    words = problems == 1 ? tr("%1, 1 needs attention.").arg(findings)
                          : tr("%1, %2 need attention.").arg(findings).arg(problems);
    role = QStringLiteral("warn");
  }
  m_words->setText(words);
  setRole(m_words, role);
  m_spinner->setVisible(m_asking);
  m_spinner->setRunning(m_asking);
  m_table->setEnabled(!m_asking && m_problem.isEmpty());
  m_copy->setEnabled(count > 0);
  m_again->setEnabled(!m_asking);
}

void DoctorDialog::copy() {
  std::vector<int> rows;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
    rows.push_back(index.row());
  std::sort(rows.begin(), rows.end());
  QGuiApplication::clipboard()->setText(rows.empty() ? m_model.asText() : m_model.asText(rows));
}

void DoctorDialog::resizeEvent(QResizeEvent* event) {
  Dialog::resizeEvent(event);
  m_table->resizeRowsToContents();
}

void DoctorDialog::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy) && m_copy->isEnabled()) return copy();
  Dialog::keyPressEvent(event);
}

}  // namespace tessera::ui
