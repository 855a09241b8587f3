// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/links_view.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/history_table_model.h"
#include "ui/models/job_states.h"
#include "ui/theme.h"
#include "ui/views/link_canvas.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/chip.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kLinksMargin = 24;
constexpr int kLinkRow = 24;
constexpr int kLeastDetails = 118;  // title, header, two rows

class LinkDelegate : public QuietDelegate {
 public:
  using QuietDelegate::QuietDelegate;

 protected:
  QColor colorOf(const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    QColor color = theme.text;
    if (index.column() >= LinkTableModel::BytesColumn) color = theme.dim;
    if (index.column() == LinkTableModel::StateColumn) {
      const auto* model = qobject_cast<const LinkTableModel*>(index.model());
      const auto state = model->row(index.row()).state;
      if (state == engine::FlowState::kStalled) color = theme.warn;
      if (state == engine::FlowState::kDone) color = theme.ok;
    }
    return color;
  }
};

void addDevices(std::set<ptc::DeviceId>* all, const std::vector<ptc::DeviceId>& devices) {
  all->insert(devices.begin(), devices.end());
}

LinkFlows flowsOfPlan(const engine::PlanSummary& plan) {
  LinkFlows flows{
      LinkTime::Planned, plan.flows, {}, plan.certificate, plan.snapshot + plan.storage};
  addDevices(&flows.devices, plan.from_devices);
  addDevices(&flows.devices, plan.to_devices);
  return flows;
}

LinkFlows flowsOfTxn(const engine::TxnStatus& txn) {
  LinkFlows flows{LinkTime::Moving, txn.flows};
  flows.change = txn.id;
  addDevices(&flows.devices, txn.from_devices);
  addDevices(&flows.devices, txn.to_devices);
  return flows;
}

LinkFlows flowsOfEntry(const engine::HistoryEntry& entry) {
  LinkFlows flows{LinkTime::Past, entry.flows};
  flows.change = entry.id;
  for (const std::string& text : {entry.from, entry.to}) {
    if (const auto mesh = ptc::ParseDeviceMesh(text)) addDevices(&flows.devices, mesh->devices());
  }
  return flows;
}

/// The transaction of the job, if it runs.
const engine::TxnStatus* runningTxnOf(const ShownLayout& layout) {
  const auto& txn = layout.cluster->transaction;
  const bool runs = txn && txn->job == layout.job && !engine::IsFinal(txn->phase);
  return runs ? &*txn : nullptr;
}

}  // namespace

LinksView::LinksView(const ViewContext& context, QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_context(context),
      m_times(new QButtonGroup(this)),
      m_endsGroup(new QButtonGroup(this)),
      m_stack(new QStackedLayout),
      m_parts(new QSplitter(Qt::Vertical, this)),
      m_words(wrappingLabel(QStringLiteral("hint"), this)),
      m_caption(new ElidedLabel(this)),
      m_title(new ElidedLabel(this)),
      m_facts(new ElidedLabel(this)),
      m_count(new QLabel(this)),
      m_export(new QPushButton(tr("Export…"), this)),
      m_canvas(new LinkCanvas(this)),
      m_table(new QTableView(this)) {
  m_words->setAlignment(Qt::AlignCenter);
  m_parts->addWidget(m_canvas);
  m_parts->addWidget(buildDetails());
  m_parts->setChildrenCollapsible(false);
  m_parts->setStretchFactor(0, 1);
  m_parts->setStretchFactor(1, 0);
  m_stack->addWidget(m_words);
  m_stack->addWidget(m_parts);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kLinksMargin, 12, kLinksMargin, 8);
  column->setSpacing(8);
  column->addWidget(buildChips());
  column->addLayout(m_stack, 1);
  m_sorted.setSingleShot(true);
  m_sorted.setInterval(kSortMs);

  connect(m_times, &QButtonGroup::idClicked, this, [this](int id) {
    m_wanted = static_cast<LinkTime>(id);
    refresh();
  });
  connect(m_endsGroup, &QButtonGroup::idClicked, this, [this](int id) {
    m_ends = static_cast<LinkEnds>(id);
    m_canvas->setChosen({});
    refresh();
  });
  connect(m_canvas, &LinkCanvas::chosenChanged, this, &LinksView::refreshDetails);
  connect(m_canvas, &LinkCanvas::hoveredChanged, this, &LinksView::showHover);
  connect(m_table, &QTableView::entered, this, [this](const QModelIndex& index) {
    const LinkRow& row = m_rows.row(index.row());
    m_context.selection.setHovered({row.from, row.to});
  });
  connect(m_table, &QTableView::viewportEntered, this,
          [this] { m_context.selection.setHovered({}); });
  connect(m_parts, &QSplitter::splitterMoved, this, [this] { m_isDivided = true; });
  connect(m_export, &QPushButton::clicked, this, &LinksView::exportRows);
  connect(&m_lister, &MoveLister::listed, this, &LinksView::refreshDetails);
  connect(&m_context.history, &QAbstractItemModel::modelReset, this, &LinksView::refresh);
  connect(&m_context.model, &ClusterModel::cleared, this, [this] {
    m_pastKey = {};
    m_past.reset();
    m_planned.reset();
    m_canvas->setChosen({});
  });
  connect(&m_context.selection, &SelectionModel::hoveredChanged, this, [this] {
    // Under the pointer of this view the canvas marks the cell itself.
    m_canvas->setMarked(m_canvas->hovered() ? std::set<ptc::DeviceId>()
                                            : m_context.selection.hovered());
  });
}

QWidget* LinksView::buildChips() {
  auto* chips = new QWidget(this);
  auto* row = new QHBoxLayout(chips);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  const auto add = [&](QButtonGroup* group, int id, const QString& text, const QString& name,
                       const QString& tip) {
    auto* chip = new Chip(text, name, chips);
    chip->setStatusTip(tip);
    group->addButton(chip, id);
    row->addWidget(chip);
  };
  add(m_times, static_cast<int>(LinkTime::Planned), tr("planned"), tr("Planned links"),
      tr("Show what the draft would move"));
  add(m_times, static_cast<int>(LinkTime::Moving), tr("moving"), tr("Moving links"),
      tr("Show what the running change moves"));
  add(m_times, static_cast<int>(LinkTime::Past), tr("past"), tr("Past links"),
      tr("Show what the selected (or latest) change of the history moved"));
  row->addSpacing(14);
  add(m_endsGroup, static_cast<int>(LinkEnds::Nodes), tr("nodes"), tr("Links between nodes"),
      tr("Show the bytes from node to node"));
  add(m_endsGroup, static_cast<int>(LinkEnds::Gpus), tr("GPUs"), tr("Links between GPUs"),
      tr("Show the bytes from GPU to GPU"));
  setRole(m_caption, QStringLiteral("hint"));
  row->addStretch();
  row->addWidget(m_caption);
  return chips;
}

QWidget* LinksView::buildDetails() {
  setRole(m_title, QStringLiteral("heading"));
  setRole(m_facts, QStringLiteral("hint"));
  setRole(m_count, QStringLiteral("hint"));
  m_export->setFlat(true);
  m_export->setAccessibleName(tr("Export the rows of the link"));
  m_export->setStatusTip(tr("Save the rows as CSV or JSON"));
  m_table->setModel(&m_rows);
  m_table->setItemDelegate(new LinkDelegate(m_table));
  m_table->setAccessibleName(tr("What the link carries"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setMouseTracking(true);
  makeQuiet(*m_table, kLinkRow);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->horizontalHeader()->setMinimumSectionSize(48);
  // The model marks the column: the arrow of the style covers titles on the right.
  m_table->horizontalHeader()->setSectionsClickable(true);
  connect(m_table->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
    const bool flip = column == m_rows.sortColumn();
    const bool largestFirst =
        flip ? m_rows.sortOrder() == Qt::AscendingOrder : column >= LinkTableModel::BytesColumn;
    m_rows.sort(column, largestFirst ? Qt::DescendingOrder : Qt::AscendingOrder);
  });
  for (const auto& [column, width] :
       {std::pair(LinkTableModel::TensorColumn, 250), std::pair(LinkTableModel::RangeColumn, 200),
        std::pair(LinkTableModel::FromColumn, 72), std::pair(LinkTableModel::ToColumn, 72),
        std::pair(LinkTableModel::BytesColumn, 90), std::pair(LinkTableModel::DoneColumn, 70),
        std::pair(LinkTableModel::RateColumn, 90), std::pair(LinkTableModel::LeftColumn, 90),
        std::pair(LinkTableModel::StateColumn, 80)}) {
    setColumnRoom(*m_table, column, width);
  }

  auto* details = new Surface(Tone::Canvas, this);
  auto* head = new QHBoxLayout;
  head->setSpacing(10);
  head->addWidget(m_title);
  head->addWidget(m_facts);
  head->addStretch();
  head->addWidget(m_count);
  head->addWidget(m_export);
  auto* column = new QVBoxLayout(details);
  column->setContentsMargins(0, 4, 0, 0);
  column->setSpacing(2);
  column->addLayout(head);
  column->addWidget(m_table, 1);
  details->setMinimumHeight(kLeastDetails);
  return details;
}

QAbstractButton* LinksView::chip(LinkTime time) const {
  return m_times->button(static_cast<int>(time));
}

QAbstractButton* LinksView::chip(LinkEnds ends) const {
  return m_endsGroup->button(static_cast<int>(ends));
}

QString LinksView::words() const {
  return m_stack->currentIndex() == 0 ? m_words->text() : QString();
}

QString LinksView::caption() const { return m_caption->text(); }
QString LinksView::linkTitle() const { return m_title->text(); }
QString LinksView::linkFacts() const { return m_facts->text(); }

QWidget* LinksView::picture() {
  return words().isEmpty() ? m_canvas->viewport() : static_cast<QWidget*>(this);
}

QWidget* LinksView::focusTarget() { return m_canvas; }

void LinksView::showLayout(const ShownLayout& layout) {
  if (layout.source != m_layout.source || layout.job != m_layout.job) m_wanted.reset();
  m_layout = layout;
  refresh();
}

void LinksView::setStale(double, const QString& asOf) {
  if (asOf == m_asOf) return;
  m_asOf = asOf;
  refresh();
}

void LinksView::showEvent(QShowEvent* event) {
  Surface::showEvent(event);
  refresh();
}

void LinksView::resizeEvent(QResizeEvent* event) {
  Surface::resizeEvent(event);
  divide();
}

void LinksView::hideEvent(QHideEvent* event) {
  Surface::hideEvent(event);
  m_context.states.setActive(this, false);
  m_context.selection.setHovered({});
}

std::optional<LinkFlows> LinksView::flowsAt(LinkTime time) const {
  switch (time) {
    case LinkTime::Planned:
      if (!m_layout.plan || m_layout.plan->job != m_layout.job) return {};
      return flowsOfPlan(*m_layout.plan);
    case LinkTime::Moving: {
      const engine::TxnStatus* txn = runningTxnOf(m_layout);
      return txn == nullptr ? std::nullopt : std::optional(flowsOfTxn(*txn));
    }
    case LinkTime::Past: {
      const engine::HistoryEntry* entry = pastEntry();
      return entry == nullptr ? std::nullopt : std::optional(flowsOfEntry(*entry));
    }
  }
  return {};
}

// The change that is chosen or shown, else in Live and Draft the newest that moved bytes.
const engine::HistoryEntry* LinksView::pastEntry() const {
  if (m_layout.change) return m_layout.change.get();
  if (m_layout.source == LayoutSource::Past || m_layout.source == LayoutSource::Lesson) {
    return nullptr;
  }
  const engine::JobStatus* job = m_layout.jobStatus();
  if (job == nullptr) return nullptr;
  for (const engine::HistoryEntry& entry : m_context.history.entries()) {
    if (engine::IsOf(entry, *job) && !entry.flows.empty()) return &entry;
  }
  return nullptr;
}

// Reading the meshes of an entry takes time, and an entry that has ended does not change.
const std::optional<LinkFlows>& LinksView::pastFlows() {
  const engine::HistoryEntry* entry = pastEntry();
  const PastKey key = entry == nullptr ? PastKey() : PastKey(entry->id, entry->job, entry->result);
  if (key != m_pastKey) {
    m_pastKey = key;
    m_past = flowsAt(LinkTime::Past);
  }
  return m_past;
}

LinkTime LinksView::usualTime() const {
  switch (m_layout.source) {
    case LayoutSource::Draft:
      return LinkTime::Planned;
    case LayoutSource::Past:
      return LinkTime::Past;
    case LayoutSource::Lesson:
      return m_layout.plan ? LinkTime::Planned : LinkTime::Moving;
    case LayoutSource::Live:
      break;
  }
  return runningTxnOf(m_layout) == nullptr && m_layout.change ? LinkTime::Past : LinkTime::Moving;
}

QString LinksView::wordsOf(const std::optional<LinkFlows>& flows) const {
  if (m_layout.job.empty()) return tr("No job is running.");
  const bool none =
      flows && std::ranges::none_of(flows->flows, [](const auto& f) { return f.bytes_total > 0; });
  if (flows && !none) return {};
  switch (m_time) {
    case LinkTime::Planned:
      if (!flows) return tr("The plan of the draft is being made, or the draft cannot be planned.");
      return flows->storageBytes > 0
                 ? tr("Nothing would move between GPUs. %1 would be read from snapshots or "
                      "checkpoints.")
                       .arg(format::bytes(flows->storageBytes))
                 : tr("Nothing would move.");
    case LinkTime::Moving:
      return flows ? tr("The running change moves nothing between GPUs.")
                   : tr("Nothing is moving. Draft a change to see its links, or choose one in the "
                        "history.");
    case LinkTime::Past:
      return flows ? tr("The history contains no flows of this change.")
             : m_layout.source == LayoutSource::Past
                 ? tr("There was no change before this moment.")
                 : tr("Choose a change in the history to see its links.");
  }
  return {};
}

void LinksView::refresh() {
  if (!m_layout.cluster) return;
  // The plan is made again after each edit. Until then the last one stays, dimmed.
  if (m_layout.source != LayoutSource::Draft && !m_layout.plan) m_planned.reset();
  std::optional<LinkFlows> planned = flowsAt(LinkTime::Planned);
  m_replanning = !planned && m_planned;
  if (planned) m_planned = planned;
  if (!isVisible()) return;
  // The moves of a plan follow from the tensors of the job.
  m_context.states.setActive(this, m_layout.source == LayoutSource::Draft);
  const std::optional<LinkFlows> moving = flowsAt(LinkTime::Moving), past = pastFlows();
  const auto available = [&](LinkTime time) -> const std::optional<LinkFlows>& {
    return time == LinkTime::Planned ? m_planned : time == LinkTime::Moving ? moving : past;
  };
  m_time = m_wanted && available(*m_wanted) ? *m_wanted : usualTime();
  for (const LinkTime time : {LinkTime::Planned, LinkTime::Moving, LinkTime::Past}) {
    chip(time)->setEnabled(available(time).has_value());
  }
  chip(m_time)->setChecked(true);
  const std::optional<LinkFlows> flows = available(m_time);
  const QString words = wordsOf(flows);
  m_words->setText(words);
  m_stack->setCurrentIndex(words.isEmpty() ? 1 : 0);
  if (!words.isEmpty()) {
    m_caption->setText(m_asOf);
    chip(LinkEnds::Gpus)->setEnabled(false);
    chip(LinkEnds::Nodes)->setEnabled(false);
    m_flows = {};
    m_canvas->setMatrix({});
    refreshDetails();
    return;
  }
  m_flows = *flows;
  LinkMatrix matrix = makeLinkMatrix(m_flows, *m_layout.cluster, m_ends);
  std::size_t devices = 0;
  for (const auto& party : matrix.parties) devices += party.devices.size();
  const bool few = devices <= LinkMatrix::kMostDevices;
  chip(LinkEnds::Nodes)->setEnabled(true);
  chip(LinkEnds::Gpus)->setEnabled(few);
  chip(LinkEnds::Gpus)
      ->setToolTip(few ? QString()
                       : tr("With more than %1 GPUs the links are between nodes.")
                             .arg(LinkMatrix::kMostDevices));
  chip(matrix.ends)->setChecked(true);
  QStringList caption;
  if (!m_asOf.isEmpty()) caption << m_asOf;
  if (m_time == LinkTime::Planned && m_replanning) caption << tr("planning…");
  if (m_flows.change) caption << tr("change %1").arg(*m_flows.change);
  if (m_flows.storageBytes > 0) {
    caption << tr("%1 from snapshots or checkpoints").arg(format::bytes(m_flows.storageBytes));
  }
  caption << tr("colour: bytes of the link, 0 to %1").arg(format::bytes(matrix.largest));
  m_caption->setText(caption.join(QStringLiteral(" · ")));
  m_canvas->setStale(!m_asOf.isEmpty() || (m_time == LinkTime::Planned && m_replanning));
  m_canvas->setMatrix(std::move(matrix));
  divide();
  refreshDetails();
}

// The matrix gets the height that it can use, unless the user has divided it.
void LinksView::divide() {
  const int most = m_canvas->sizeHint().height();
  m_canvas->setMaximumHeight(most);
  if (m_isDivided) return;
  const int whole = m_parts->height() - m_parts->handleWidth();
  const int matrix = std::min(most, whole - kLeastDetails);
  m_parts->setSizes({matrix, whole - matrix});
}

ChosenLink LinksView::chosenLink(const LinkMatrix& matrix, int from, int to,
                                 const LinkMatrix::Link* link) {
  ChosenLink chosen{linkName(matrix, from, to), {}};
  if (link == nullptr) {
    chosen.facts.emplace_back(tr("carries"), tr("nothing"));
    return chosen;
  }
  chosen.facts.emplace_back(tr("carries"), format::bytes(link->bytes));
  chosen.facts.emplace_back(tr("flows"), format::count(link->flows));
  if (matrix.time == LinkTime::Moving) {
    chosen.facts.emplace_back(tr("done"), format::bytesOf(link->done, link->bytes));
    chosen.facts.emplace_back(tr("rate"), link->stalled ? tr("stalled") : format::rate(link->rate));
  }
  if (const auto speed = matrix.speedOf(*link)) {
    chosen.facts.emplace_back(tr("bandwidth"), format::rate(*speed));
    chosen.facts.emplace_back(tr("known from"), matrix.speedsFrom);
  }
  if (const auto seconds = matrix.aloneSeconds(*link))
    chosen.facts.emplace_back(tr("time if alone"),
                              QStringLiteral("≈ ") + format::seconds(*seconds));
  return chosen;
}

void LinksView::refreshDetails() {
  const QSignalBlocker quiet(m_lister);  // only what its thread lists comes back here
  const LinkMatrix& matrix = m_canvas->matrix();
  const auto cell = m_canvas->chosen();
  const LinkMatrix::Link* link = cell ? matrix.find(cell->from, cell->to) : nullptr;
  m_title->setText(cell ? linkName(matrix, cell->from, cell->to) : tr("All links"));
  if (link != nullptr) {
    QString facts =
        tr("%1 in %2", "bytes in flows").arg(format::bytes(link->bytes), flowCount(link->flows));
    const QString alone = aloneText(matrix, *link);
    if (!alone.isEmpty()) facts += QStringLiteral(" · ") + alone;
    m_facts->setText(facts);
  } else {
    m_facts->setText(
        cell ? tr("nothing")
             : tr("%1 · choose a link to see what it carries").arg(format::bytes(matrix.bytes)));
  }
  m_context.selection.setLink(cell ? std::optional(chosenLink(matrix, cell->from, cell->to, link))
                                   : std::nullopt);
  if (cell && link == nullptr) {
    m_lister.clear();
    m_shownMoves.reset();
    m_rows.setFlows({});
  } else {
    showRows(link);
  }
  m_count->setText(m_lister.isBusy()        ? tr("reading the tensors…")
                   : !m_rows.hasTensors()   ? flowCount(m_rows.rowCount())
                   : m_rows.rowCount() == 1 ? tr("1 move")
                                            : tr("%1 moves").arg(format::count(m_rows.rowCount())));
  m_export->setEnabled(m_rows.rowCount() > 0);
  using Table = LinkTableModel;
  const bool tensors = m_rows.hasTensors();
  m_table->setColumnHidden(Table::TensorColumn, !tensors);
  m_table->setColumnHidden(Table::RangeColumn, !tensors);
  m_table->setColumnHidden(Table::DoneColumn, m_time == LinkTime::Planned);
  m_table->setColumnHidden(Table::RateColumn, m_time != LinkTime::Moving);
  m_table->setColumnHidden(Table::LeftColumn, m_time != LinkTime::Moving);
  m_table->setColumnHidden(Table::StateColumn, m_time != LinkTime::Moving);
  m_table->setColumnHidden(Table::ReasonColumn, m_time != LinkTime::Moving);
}

void LinksView::showRows(const LinkMatrix::Link* link) {
  const LinkMatrix& matrix = m_canvas->matrix();
  const bool listed = link != nullptr && m_time == LinkTime::Planned && !m_replanning &&
                      m_layout.plan && m_layout.state;
  if (listed) {
    const auto devicesOf = [&](int party) {
      const auto& devices = matrix.party(party).devices;
      return std::set<ptc::DeviceId>(devices.begin(), devices.end());
    };
    m_lister.request(m_layout.state, m_layout.plan, m_layout.cluster, devicesOf(link->from),
                     devicesOf(link->to));
  } else {
    m_lister.clear();
  }
  if (const MoveLister::Moves& moves = m_lister.moves()) {
    if (std::exchange(m_shownMoves, moves) != moves) m_rows.setMoves(m_layout.state, *moves);
    return;
  }
  m_shownMoves.reset();
  m_rows.setFlows(flowsOf(m_flows, matrix, link));
  if (m_time == LinkTime::Moving && !m_sorted.isActive()) {
    m_rows.sortAgain();
    m_sorted.start();
  }
}

void LinksView::showHover() {
  Devices devices;
  const auto cell = m_canvas->hovered();
  const LinkMatrix& matrix = m_canvas->matrix();
  if (cell && matrix.find(cell->from, cell->to) != nullptr) {
    for (const int party : {cell->from, cell->to}) {
      const auto& ends = matrix.party(party).devices;
      devices.insert(ends.begin(), ends.end());
    }
  }
  m_context.selection.setHovered(std::move(devices));
}

void LinksView::exportRows() {
  const QString name = QFileDialog::getSaveFileName(this, tr("Export the rows of the link"),
                                                    QStringLiteral("tessera-links.csv"),
                                                    tr("CSV tables (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const Status written = writeFile(name, m_rows.exported(exportFormatOf(name)));
  if (!written) {
    m_context.showError(format::error(written.error()));
  } else {
    m_context.say(tr("%1 was written").arg(name));
  }
}

}  // namespace tessera::ui
