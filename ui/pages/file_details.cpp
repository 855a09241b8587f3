// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/file_details.h"

#include <QHeaderView>
#include <QLabel>
#include <QRegularExpression>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/placement_strip.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kRangeRow = 24;
constexpr int kMostRangeRows = 8;
constexpr int kHolders = 100;  // width of the column of devices
constexpr int kCell = 20;      // around a text

}  // namespace

FileDetails::FileDetails(QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_title(wrappingLabel(QStringLiteral("heading"), this)),
      m_summary(wrappingLabel(QStringLiteral("hint"), this)),
      m_placed(wrappingLabel(QStringLiteral("group"), this)),
      m_placement(wrappingLabel(QStringLiteral("hint"), this)),
      m_more(wrappingLabel(QStringLiteral("hint"), this)),
      m_path(new CopyLine(tr("path"), tr("Copy path"), this)),
      m_python(new CopyLine(tr("Python line"), tr("Copy line"), this)),
      m_values(new KeyValues(this)),
      m_strip(new PlacementStrip(this)),
      m_table(new QTableView(this)) {
  m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_placed->setText(tr("LOCATION OF THE BYTES"));
  buildTable();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 16, 20, 16);
  column->setSpacing(6);
  column->addWidget(m_title);
  column->addWidget(m_summary);
  column->addSpacing(6);
  column->addWidget(m_path);
  column->addWidget(m_python);
  column->addSpacing(8);
  column->addWidget(m_values);
  column->addSpacing(14);
  column->addWidget(m_placed);
  column->addWidget(m_placement);
  column->addSpacing(2);
  column->addWidget(m_strip);
  column->addSpacing(4);
  column->addWidget(m_table);
  column->addWidget(m_more);
  column->addStretch();
  connect(m_strip, &PlacementStrip::deviceChosen, this,
          [this](ptc::DeviceId device) { emit devicesChosen({device}); });
  connect(m_path, &CopyLine::copied, this,
          [this](const QString& text) { emit said(tr("Copied %1").arg(text)); });
  connect(m_python, &CopyLine::copied, this, [this] { emit said(tr("Copied the Python line")); });
}

void FileDetails::buildTable() {
  m_table->setModel(&m_rows);
  makeQuiet(*m_table, kRangeRow);
  m_table->setObjectName(QStringLiteral("placement"));
  m_table->setAccessibleName(tr("Ranges of bytes and the GPUs that hold them"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setMinimumSectionSize(30);
  m_table->horizontalHeader()->setSectionResizeMode(PlacementTableModel::WhatColumn,
                                                    QHeaderView::Stretch);
  setColumnRoom(*m_table, PlacementTableModel::SizeColumn, 72);
  setColumnRoom(*m_table, PlacementTableModel::HereColumn, 44);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& row) {
            if (!row.isValid()) return;
            const auto& devices = m_rows.devices(row.row());
            if (!devices.empty()) emit devicesChosen({devices.begin(), devices.end()});
          });
}

void FileDetails::setFacts(FileFacts facts) {
  const PlacedBytesPtr before = m_facts.bytes;
  m_facts = std::move(facts);
  m_title->setText(m_facts.title);
  m_summary->setText(m_facts.summary);
  std::vector<KeyValues::Row> rows;
  for (const FileFacts::Fact& fact : m_facts.facts) rows.push_back({fact.key, fact.value});
  m_values->setRows(rows);
  m_values->setVisible(!rows.empty());
  m_placement->setText(m_facts.placement);
  m_placement->setVisible(!m_facts.placement.isEmpty());
  m_placed->setVisible(!m_facts.placement.isEmpty());
  if (m_facts.bytes != before) {
    m_strip->setBytes(m_facts.bytes);
    m_rows.setBytes(m_facts.bytes);
  }
  for (QWidget* part : {static_cast<QWidget*>(m_strip), static_cast<QWidget*>(m_table)}) {
    part->setVisible(m_facts.bytes != nullptr);
  }
  m_table->setColumnHidden(PlacementTableModel::WhatColumn, !m_facts.tensor.isEmpty());
  m_table->setColumnHidden(PlacementTableModel::SizeColumn, m_facts.tensor.isEmpty());
  m_more->setText(moreText());
  m_more->setVisible(!m_more->text().isEmpty());
  m_python->setVisible(m_facts.safetensors);
  fitTable();
  setMountPoint(m_mount);
}

QString FileDetails::moreText() const {
  const std::int64_t more = m_facts.bytes ? m_facts.bytes->more() : 0;
  return more == 0 ? QString() : tr("and %1 more ranges").arg(format::count(more));
}

void FileDetails::fitTable() {
  const bool ofFile = m_facts.tensor.isEmpty();
  m_table->horizontalHeader()->setSectionResizeMode(
      PlacementTableModel::HoldersColumn, ofFile ? QHeaderView::Fixed : QHeaderView::Stretch);
  if (ofFile) setColumnRoom(*m_table, PlacementTableModel::HoldersColumn, kHolders);
  if (m_facts.bytes) {
    // Measure with the widest digit, so that every number fits.
    static const QRegularExpression digit(QStringLiteral("\\d"));
    const QString longest = format::count(m_facts.bytes->end()).replace(digit, QStringLiteral("0"));
    setColumnRoom(
        *m_table, PlacementTableModel::BytesColumn,
        m_table->fontMetrics().horizontalAdvance(tr("%1 to %2").arg(longest, longest)) + kCell);
  }
  const int rows = std::clamp(m_rows.rowCount(), 1, kMostRangeRows);
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + rows * kRangeRow + 2);
}

void FileDetails::setMountPoint(std::optional<QString> folder) {
  m_mount = std::move(folder);
  m_path->setText(path());
  if (m_facts.safetensors) m_python->setText(pythonLine());
}

QString FileDetails::path() const {
  return m_mount ? *m_mount + QLatin1Char('/') + m_facts.path : m_facts.path;
}

QString FileDetails::pythonLine() const { return ui::pythonLine(m_facts, path()); }

void FileDetails::setLooks(const DeviceLooks& looks) { m_strip->setLooks(looks); }

void FileDetails::setSelection(const std::set<ptc::DeviceId>& devices) {
  m_strip->setSelection(devices);
}

void FileDetails::setIsHere(PlacementTableModel::IsHere isHere) {
  m_rows.setIsHere(std::move(isHere));
}

void FileDetails::setStale(bool stale) { m_strip->setStale(stale); }

}  // namespace tessera::ui
