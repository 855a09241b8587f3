// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kCompareRow = 24;
constexpr int kFactWidth = 104;

/// Values that differ are emphasized, so that a long table shows its point.
class CompareDelegate : public QuietDelegate {
 public:
  using QuietDelegate::QuietDelegate;

 protected:
  QColor colorOf(const QModelIndex& index) const override {
    return isPoint(index) ? Theme::current().text : Theme::current().dim;
  }
  QFont::Weight weightOf(const QModelIndex& index) const override {
    return isPoint(index) ? QFont::DemiBold : QFont::Normal;
  }

 private:
  static bool isPoint(const QModelIndex& index) {
    return index.column() != DiffTableModel::FactColumn &&
           index.data(DiffTableModel::DiffersRole).toBool();
  }
};

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_title(new QLabel(this)),
      m_devices(wrappingLabel(QString(), this)),
      m_table(new QTableView(this)),
      m_save(new QPushButton(tr("Save…"), this)),
      m_close(new QPushButton(tr("Close"), this)) {
  setRole(m_title, QStringLiteral("heading"));
  m_table->setModel(&m_rows);
  m_table->setItemDelegate(new CompareDelegate(m_table));
  m_table->setAccessibleName(tr("Two changes or moments beside each other"));
  makeQuiet(*m_table, kCompareRow);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  m_table->horizontalHeader()->setSectionResizeMode(DiffTableModel::FactColumn,
                                                    QHeaderView::Interactive);
  m_table->setColumnWidth(DiffTableModel::FactColumn, kFactWidth);
  m_save->setAccessibleName(tr("Save the comparison"));
  m_save->setStatusTip(tr("Save the comparison as CSV or JSON"));
  m_close->setAccessibleName(tr("Close the comparison"));
  m_close->setStatusTip(tr("Return to the selection in the mesh"));

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addWidget(m_close);
  buttons->addWidget(m_save, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 14);
  column->setSpacing(10);
  column->addWidget(m_title);
  column->addWidget(m_devices);
  column->addWidget(m_table, 1);
  column->addLayout(buttons);
  connect(m_close, &QPushButton::clicked, this, &ComparePage::closeRequested);
  connect(m_save, &QPushButton::clicked, this, &ComparePage::save);
}

QString ComparePage::devices() const { return m_devices->text(); }

void ComparePage::setDiff(ChangeDiff diff) {
  m_moments.reset();
  m_diff = std::move(diff);
  show(tr("Change %1 against change %2").arg(m_diff->a.entry.id).arg(m_diff->b.entry.id),
       deviceText(*m_diff), rowsOf(*m_diff));
}

void ComparePage::setDiff(MomentDiff diff) {
  m_diff.reset();
  m_moments = std::move(diff);
  show(tr("%1 against %2", "two moments")
           .arg(format::clock(m_moments->a.time), format::clock(m_moments->b.time)),
       betweenText(*m_moments) + QLatin1Char('\n') + deviceText(*m_moments), rowsOf(*m_moments));
}

void ComparePage::show(const QString& title, const QString& devices, std::vector<DiffRow> rows) {
  m_title->setText(title);
  m_devices->setText(devices);
  m_rows.setRows(std::move(rows));
}

void ComparePage::save() {
  if (!m_diff && !m_moments) return;
  const QString name = QFileDialog::getSaveFileName(this, tr("Save the comparison"),
                                                    QStringLiteral("tessera-comparison.csv"),
                                                    tr("CSV tables (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const ExportFormat format = exportFormatOf(name);
  const Status written =
      writeFile(name, m_diff ? exportText(*m_diff, format)
                             : exportText(rowsOf(*m_moments), *m_moments, format));
  if (!written) emit failed(format::error(written.error()));
}

}  // namespace tessera::ui
