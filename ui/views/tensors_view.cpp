// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tensors_view.h"

#include <QAbstractItemView>
#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "engine/catalogue/catalogue.h"
#include "ui/format.h"
#include "ui/models/cluster_model.h"
#include "ui/models/device_names.h"
#include "ui/models/job_states.h"
#include "ui/views/model_map.h"
#include "ui/views/selection_model.h"
#include "ui/views/tensor_canvas.h"
#include "ui/widgets/chip.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kTensorRow = 26;
constexpr int kTensorMargin = 16;

QString axesText(const std::vector<ptc::Axis>& axes) {
  QStringList names;
  for (const ptc::Axis axis : axes) names << format::word(ptc::ToString(axis));
  return names.join(QStringLiteral(" × "));
}

QString shapeText(const ptc::TensorSpec& spec) {
  if (spec.shape.empty()) return TensorsView::tr("scalar");
  QStringList sizes;
  for (const std::int64_t size : spec.shape) sizes << format::count(size);
  return QStringLiteral("[%1]").arg(sizes.join(QStringLiteral(" × ")));
}

}  // namespace

TensorsView::TensorsView(const ViewContext& context, QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_context(context),
      m_words(wrappingLabel(QStringLiteral("hint"), this)),
      m_caption(new ElidedLabel(this)),
      m_title(new ElidedLabel(this)),
      m_facts(new ElidedLabel(this)),
      m_steps(new ElidedLabel(this)),
      m_footer(wrappingLabel(QStringLiteral("hint"), this)),
      m_sum(new QLabel(this)),
      m_subject(new QComboBox(this)),
      m_role(new QComboBox(this)),
      m_mesh(new QLineEdit(this)),
      m_filter(new QLineEdit(this)),
      m_meshLabel(wrappingLabel(QStringLiteral("bad"), this)),
      m_scopes(new QButtonGroup(this)),
      m_layer(new QSpinBox(this)),
      m_compare(new QCheckBox(tr("Before and after"), this)),
      m_table(new QTableView(this)),
      m_stack(new QStackedWidget(this)),
      m_pictures(new QStackedWidget(this)),
      m_map(new ModelMap(m_pictures)),
      m_canvas(new TensorCanvas(m_pictures)) {
  m_words->setAlignment(Qt::AlignCenter);
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  splitter->setObjectName(QStringLiteral("tensorsSplitter"));
  splitter->addWidget(buildList());
  splitter->addWidget(buildPictures());
  splitter->setChildrenCollapsible(false);
  splitter->setStretchFactor(0, 0);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({300, 590});
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);

  connect(&m_maker, &LayoutMaker::changed, this, &TensorsView::takeLayouts);
  SelectionModel& selection = m_context.selection;
  for (const auto signal : {&SelectionModel::hoveredChanged, &SelectionModel::devicesChanged}) {
    connect(&selection, signal, this, [this] {
      const SelectionModel& now = m_context.selection;
      const Devices& marked = now.hovered().empty() ? now.devices() : now.hovered();
      m_map->setHighlighted(marked);
      m_canvas->setHighlighted(marked);
    });
  }
  const auto hover = [this](const Devices& devices) { m_context.selection.setHovered(devices); };
  connect(m_map, &ModelMap::hovered, this, hover);
  connect(m_canvas, &TensorCanvas::hovered, this, hover);
  connect(m_map, &ModelMap::chosen, this,
          [this](std::size_t group, int tensor, const Devices& devices) {
            choose(group, tensor);
            m_context.selection.setDevices(devices);
          });
  connect(m_canvas, &TensorCanvas::chosen, this,
          [this](const Devices& devices) { m_context.selection.setDevices(devices); });
  connect(m_canvas, &TensorCanvas::currentChanged, this, &TensorsView::refreshTexts);
  fillSubjects();
  setScope(Scope::Model);
}

QWidget* TensorsView::buildList() {
  auto* side = new Surface(Tone::Panel, this);
  side->setMinimumWidth(230);
  m_subject->setAccessibleName(tr("What to show: the job, or a model of the catalogue"));
  m_subject->view()->setAccessibleName(m_subject->accessibleName());
  m_subject->setStatusTip(tr("Show the tensors of the job, or of a model of the catalogue"));
  m_subject->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_mesh->setText(QStringLiteral("dp=2,tp=8,pp=4"));
  m_mesh->setAccessibleName(tr("Mesh for the model"));
  m_mesh->setToolTip(tr("The mesh on which the model is shown, as in dp=2,tp=8,pp=4"));
  m_filter->setPlaceholderText(tr("Filter: name, role, dtype"));
  m_filter->setAccessibleName(tr("Filter tensors"));
  m_filter->setClearButtonEnabled(true);
  for (const auto& [filter, text] : {std::pair(RoleFilter::Parameters, tr("Parameters")),
                                     std::pair(RoleFilter::Optimizer, tr("Optimizer state")),
                                     std::pair(RoleFilter::Other, tr("Buffers and scalars")),
                                     std::pair(RoleFilter::All, tr("All tensors"))}) {
    m_role->addItem(text, static_cast<int>(filter));
  }
  m_role->setAccessibleName(tr("Role of the tensors"));
  m_role->view()->setAccessibleName(m_role->accessibleName());
  m_table->setModel(&m_groups);
  makeQuiet(*m_table, kTensorRow);
  m_table->setAccessibleName(tr("Tensors"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setSortingEnabled(true);
  m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  m_table->horizontalHeader()->setSectionResizeMode(TensorGroupModel::NameColumn,
                                                    QHeaderView::Stretch);
  setColumnRoom(*m_table, TensorGroupModel::CountColumn, 40);
  setColumnRoom(*m_table, TensorGroupModel::BytesColumn, 70);
  setColumnRoom(*m_table, TensorGroupModel::HoldersColumn, 54);
  m_table->setTextElideMode(Qt::ElideMiddle);
  setRole(m_sum, QStringLiteral("hint"));
  m_meshLabel->hide();

  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(10, 10, 7, 6);
  column->setSpacing(8);
  column->addWidget(m_subject);
  column->addWidget(m_mesh);
  column->addWidget(m_meshLabel);
  column->addWidget(m_filter);
  column->addWidget(m_role);
  column->addWidget(m_table, 1);
  column->addWidget(m_sum);

  const auto filter = [this] {
    m_groups.setFilter(m_filter->text(), static_cast<RoleFilter>(m_role->currentData().toInt()));
    refreshPictures();
  };
  connect(m_filter, &QLineEdit::textChanged, this, filter);
  connect(m_role, &QComboBox::currentIndexChanged, this, filter);
  connect(m_subject, &QComboBox::currentIndexChanged, this, [this] {
    m_mesh->setVisible(ofCatalogue());
    request();
    refresh();
  });
  connect(m_mesh, &QLineEdit::editingFinished, this, &TensorsView::request);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& row) {
            if (!row.isValid()) return;
            const std::size_t group = m_groups.shown()[static_cast<std::size_t>(row.row())];
            if (m_group == group) return;
            choose(group, layouts()->groups()[group].tensors.front());
          });
  connect(&m_groups, &QAbstractItemModel::modelReset, this, [this] {
    const auto row = m_group ? m_groups.rowOf(*m_group) : std::nullopt;
    if (row) m_table->setCurrentIndex(m_groups.index(*row, 0));
  });
  m_groups.setFilter({}, RoleFilter::Parameters);
  return side;
}

QWidget* TensorsView::buildChips() {
  auto* chips = new QWidget(this);
  auto* row = new QHBoxLayout(chips);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  const auto add = [&](Scope scope, const QString& text, const QString& tip) {
    auto* chip = new Chip(text, text, chips);
    chip->setStatusTip(tip);
    m_scopes->addButton(chip, static_cast<int>(scope));
    row->addWidget(chip);
  };
  add(Scope::Model, tr("whole model"), tr("Show all tensors, a row per layer"));
  add(Scope::Layer, tr("layer"), tr("Show the tensors of one layer"));
  m_layer->setAccessibleName(tr("Layer"));
  m_layer->setToolTip(tr("Layer"));
  row->addWidget(m_layer);
  add(Scope::Tensor, tr("one tensor"), tr("Show the shards of one tensor"));
  row->addStretch();
  setRole(m_caption, QStringLiteral("hint"));
  row->addWidget(m_caption);
  m_compare->setChecked(true);
  m_compare->setAccessibleName(m_compare->text());
  m_compare->setStatusTip(tr("Show the shards before and after the change side by side"));
  row->addWidget(m_compare);
  connect(m_scopes, &QButtonGroup::idClicked, this,
          [this](int id) { setScope(static_cast<Scope>(id)); });
  connect(m_layer, &QSpinBox::valueChanged, this, &TensorsView::refreshPictures);
  connect(m_compare, &QCheckBox::toggled, this, &TensorsView::refreshPictures);
  return chips;
}

QWidget* TensorsView::buildPictures() {
  auto* area = new Surface(Tone::Canvas, this);
  setRole(m_title, QStringLiteral("heading"));
  setRole(m_facts, QStringLiteral("hint"));
  setRole(m_steps, QStringLiteral("hint"));
  for (QLabel* label : {m_title, m_facts, m_steps}) {
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  m_pictures->addWidget(m_map);
  m_pictures->addWidget(m_canvas);
  auto* heading = new QHBoxLayout;
  heading->setSpacing(12);
  heading->addWidget(m_title);
  heading->addWidget(m_facts, 1);
  auto* texts = new QVBoxLayout;
  texts->setContentsMargins(kTensorMargin, 10, kTensorMargin, 4);
  texts->setSpacing(6);
  texts->addWidget(buildChips());
  texts->addLayout(heading);
  texts->addWidget(m_steps);
  m_footer->setContentsMargins(kTensorMargin, 4, kTensorMargin, 10);
  m_stack->addWidget(m_pictures);
  m_stack->addWidget(m_words);
  auto* column = new QVBoxLayout(area);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(texts);
  column->addWidget(m_stack, 1);
  column->addWidget(m_footer);
  return area;
}

void TensorsView::fillSubjects() {
  m_subject->addItem(tr("The job"));
  for (const std::string& name : engine::CatalogueNames()) {
    m_subject->addItem(QString::fromStdString(name));
  }
  m_subject->insertSeparator(1);
  m_mesh->hide();
}

bool TensorsView::ofCatalogue() const { return m_subject->currentIndex() > 0; }

QAbstractButton* TensorsView::chip(Scope scope) const {
  return m_scopes->button(static_cast<int>(scope));
}

QWidget* TensorsView::picture() {
  if (!words().isEmpty()) return this;
  return m_pictures->currentWidget() == m_canvas ? static_cast<QWidget*>(m_canvas)
                                                 : m_map->viewport();
}

QWidget* TensorsView::focusTarget() {
  return m_pictures->currentWidget() == m_canvas ? static_cast<QWidget*>(m_canvas) : m_map;
}

QLineEdit* TensorsView::filter() { return m_filter; }

QString TensorsView::words() const {
  return m_words->isVisibleTo(this) ? m_words->text() : QString();
}
QString TensorsView::meshProblem() const { return m_meshLabel->text(); }
QString TensorsView::heading() const {
  return m_title->text() + QLatin1Char(' ') + m_facts->text();
}
QString TensorsView::steps() const { return m_steps->text(); }
QString TensorsView::footer() const { return m_footer->text(); }

void TensorsView::showEvent(QShowEvent* event) {
  Surface::showEvent(event);
  m_context.states.setActive(this, true);
  request();
  refresh();
}

void TensorsView::hideEvent(QHideEvent* event) {
  Surface::hideEvent(event);
  m_context.states.setActive(this, false);
}

void TensorsView::showLayout(const ShownLayout& layout) {
  m_layout = layout;
  if (!isVisible()) return;
  request();
  refresh();
}

void TensorsView::setStale(double, const QString& asOf) {
  if (std::exchange(m_asOf, asOf) == asOf) return;
  m_map->setStale(!asOf.isEmpty());
  m_canvas->setStale(!asOf.isEmpty());
  refreshTexts();
}

void TensorsView::setScope(Scope scope) {
  m_scope = scope;
  chip(scope)->setChecked(true);
  m_layer->setVisible(scope == Scope::Layer);
  m_pictures->setCurrentWidget(scope == Scope::Tensor ? static_cast<QWidget*>(m_canvas) : m_map);
  refreshPictures();
}

void TensorsView::request() {
  if (ofCatalogue()) {
    m_maker.requestModel(m_subject->currentText(), m_mesh->text());
    return;
  }
  const engine::JobStatus* job = m_layout.cluster ? m_layout.jobStatus() : nullptr;
  if (!m_layout.state || job == nullptr) {
    m_maker.clear();
    return;
  }
  const bool simulated = m_layout.source == LayoutSource::Lesson;
  const engine::JobStatus* live = simulated ? nullptr : m_context.model.findJob(job->name);
  // The tensors of the new layout are on their way; the options belong to it.
  if (live != nullptr && live->epoch != m_layout.state->info.epoch) return;
  m_maker.request(m_layout.state, (live == nullptr ? job : live)->options, m_layout.now,
                  m_layout.next);
}

void TensorsView::takeLayouts() {
  const TensorLayouts::Ptr& made = m_maker.layouts();
  m_groups.setLayouts(made);
  m_group.reset();
  m_tensor = -1;
  if (made) {
    const std::int64_t layers = made->now().collection().num_layers();
    m_layer->setRange(0, static_cast<int>(std::max<std::int64_t>(1, layers)) - 1);
    chip(Scope::Layer)->setEnabled(layers > 0);
    // The same tensor as before, else one of the largest.
    const auto& groups = made->groups();
    const auto kept = made->now().collection().Find(m_name);
    std::optional<std::size_t> chosen;
    for (const std::size_t each : m_groups.shown()) {
      if (kept && std::ranges::find(groups[each].tensors, *kept) != groups[each].tensors.end()) {
        chosen = each;
        m_tensor = *kept;
        break;
      }
      if (!chosen || groups[each].bytes > groups[*chosen].bytes) chosen = each;
    }
    if (chosen) {
      m_group = chosen;
      if (m_tensor < 0) m_tensor = groups[*chosen].tensors.front();
      if (const auto row = m_groups.rowOf(*chosen)) {
        m_table->setCurrentIndex(m_groups.index(*row, 0));
      }
    }
  }
  refresh();
}

void TensorsView::choose(std::size_t group, int tensor) {
  m_group = group;
  m_tensor = tensor;
  m_name = layouts()->spec(tensor).name;
  if (const auto row = m_groups.rowOf(group)) m_table->setCurrentIndex(m_groups.index(*row, 0));
  setScope(Scope::Tensor);
}

bool TensorsView::openTensor(const QString& name) {
  if (!layouts()) return false;
  const auto tensor = layouts()->now().collection().Find(name.toStdString());
  if (!tensor) return false;
  for (std::size_t g = 0; g < layouts()->groups().size(); ++g) {
    if (std::ranges::find(layouts()->groups()[g].tensors, *tensor) ==
        layouts()->groups()[g].tensors.end()) {
      continue;
    }
    choose(g, *tensor);
    return true;
  }
  return false;
}

QString TensorsView::whyNothing() const {
  if (!m_maker.problem().isEmpty()) {
    return ofCatalogue() ? QString() : tr("The layout cannot be shown: %1.").arg(m_maker.problem());
  }
  if (m_maker.isBusy()) return tr("Dividing the tensors among the GPUs…");
  if (ofCatalogue()) return {};
  const QString instead =
      QLatin1Char('\n') + tr("Models of the catalogue can be chosen in the list at the left.");
  if (!m_layout.cluster || m_layout.cluster->nodes.empty()) {
    return tr("There is no cluster to show.") + instead;
  }
  if (m_context.model.isFile()) return tr("A history file contains no tensors.") + instead;
  const engine::JobStatus* job = m_layout.jobStatus();
  if (job == nullptr) return tr("No job is running.") + instead;
  if (!m_context.states.problem().isEmpty()) {
    return tr("The tensors could not be read: %1. Trying again.").arg(m_context.states.problem());
  }
  if (!m_context.states.isKnown()) return tr("Reading the tensors…");
  return tr("%1 has no layout yet.").arg(QString::fromStdString(job->name)) + instead;
}

DeviceLooks TensorsView::looks(bool after) const {
  if (ofCatalogue()) {
    // The colouring by shard of the mesh, whose GPUs are not those of the model.
    DeviceLooks looks;
    const ptc::DeviceMesh& mesh = layouts()->now().mesh();
    for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
      const int piece =
          swatchesAt(mesh.shape(), static_cast<int>(mesh.Coordinate(rank, ptc::Axis::kPp)),
                     static_cast<int>(mesh.Coordinate(rank, ptc::Axis::kTp)))
              .piece;
      looks[mesh.devices()[static_cast<std::size_t>(rank)]] = {identity(piece), pattern(piece)};
    }
    return looks;
  }
  return looksOf(after ? *m_layout.scene : *m_layout.live);
}

void TensorsView::refresh() {
  if (!isVisible()) return;
  m_subject->setItemText(0, m_layout.job.empty()
                                ? tr("The job")
                                : tr("Job %1").arg(QString::fromStdString(m_layout.job)));
  refreshPictures();
}

void TensorsView::refreshPictures() {
  const TensorLayouts::Ptr& made = layouts();
  const QString problem = ofCatalogue() ? m_maker.problem() : QString();
  m_meshLabel->setText(problem);
  m_meshLabel->setVisible(!problem.isEmpty());
  const bool shown = made != nullptr;
  m_stack->setCurrentWidget(shown ? static_cast<QWidget*>(m_pictures) : m_words);
  if (!shown) m_words->setText(whyNothing());
  m_compare->setVisible(shown && made->next() != nullptr);
  if (shown && m_layout.scene) {
    const DeviceLooks before = looks(false);
    ModelMap::Content content{made,        m_groups.shown(),       before,
                              looks(true), m_compare->isChecked(), {}};
    std::ranges::sort(content.groups);
    if (m_scope == Scope::Layer) content.layer = m_layer->value();
    m_map->setContent(std::move(content));
    m_canvas->setCompare(m_compare->isChecked());
    m_canvas->setTensor(m_tensor >= 0 ? made : nullptr, m_tensor, before);
  } else {
    m_map->setContent({});
    m_canvas->setTensor(nullptr, -1, {});
  }
  refreshTexts();
}

QString TensorsView::stepsOf(const ptc::TensorSpec& spec) const {
  QStringList cuts;
  for (std::size_t dim = 0; dim < spec.rule.dims.size(); ++dim) {
    if (spec.rule.dims[dim].axes.empty()) continue;
    cuts << tr("dim %1 over %2").arg(dim).arg(axesText(spec.rule.dims[dim].axes));
  }
  if (spec.expert) cuts << tr("experts over ep");
  if (!spec.rule.flat.empty()) cuts << tr("flat over %1").arg(axesText(spec.rule.flat));
  QString where;
  switch (spec.place) {
    case ptc::StagePlace::kLayer:
      where = tr("stage by layer");
      break;
    case ptc::StagePlace::kFirst:
      where = tr("first stage");
      break;
    case ptc::StagePlace::kLast:
      where = tr("last stage");
      break;
    case ptc::StagePlace::kFirstAndLast:
      where = tr("first and last stage");
      break;
    case ptc::StagePlace::kAll:
      where = tr("all stages");
      break;
  }
  std::size_t copies = 0;
  for (const Shard& shard : m_canvas->picture().before) {
    copies = copies == 0 ? shard.holders.size() : std::min(copies, shard.holders.size());
  }
  const QString held =
      copies == 1 ? tr("1 replica: held only once")
                  : tr("%1 replicas").arg(format::count(static_cast<std::int64_t>(copies)));
  return tr("σ slice: %1   → φ partition: %2   → α allocate: %3")
      .arg(cuts.isEmpty() ? tr("whole") : cuts.join(QStringLiteral(", ")), where, held);
}

void TensorsView::refreshTexts() {
  const TensorLayouts::Ptr& made = layouts();
  m_sum->setText(made ? tr("%1 of one copy, %2 tensors")
                            .arg(format::bytes(m_groups.bytes()), format::count([&] {
                                   std::int64_t count = 0;
                                   for (const std::size_t g : m_groups.shown()) {
                                     count += std::ssize(made->groups()[g].tensors);
                                   }
                                   return count;
                                 }()))
                      : QString());
  const bool one = made && m_scope == Scope::Tensor && m_group && m_tensor >= 0;
  m_steps->setVisible(one);
  m_title->setVisible(made != nullptr);
  m_facts->setVisible(made != nullptr);
  if (!made) {
    m_caption->clear();
    m_footer->clear();
    return;
  }
  m_caption->setText(m_asOf);
  if (!one) {
    m_title->setText(ofCatalogue() ? m_subject->currentText()
                                   : QString::fromStdString(m_layout.job));
    m_facts->setText(m_scope == Scope::Layer
                         ? tr("width: square root of the bytes · click a tensor to open it")
                         : tr("a row per layer, a column per tensor · click a tensor to open it"));
    m_footer->setText(
        tr("Grey is the same on GPUs of different colours. Point at a part to see the "
           "GPUs that hold it, or at a GPU in the navigator or mesh to see its parts."));
    return;
  }
  const TensorGroup& group = made->groups()[*m_group];
  const ptc::TensorSpec& spec = made->spec(m_tensor);
  m_title->setText(group.name);
  QStringList facts{shapeText(spec) + QLatin1Char(' ') + format::word(ptc::ToString(spec.dtype)),
                    format::word(ptc::ToString(spec.role))};
  if (group.tensors.size() > 1) {
    facts << tr("%1 tensors").arg(format::count(std::ssize(group.tensors)));
  }
  facts << format::bytes(group.bytes);
  if (spec.segments)
    facts << tr("%1 segments, each cut for itself").arg(spec.segments->blocks.size());
  m_facts->setText(facts.join(QStringLiteral(" · ")));
  m_steps->setText(stepsOf(spec));

  QString text;
  if (const auto at = m_canvas->current()) {
    const Shard& shard = m_canvas->shard(*at);
    text = tr("Shard %1: %2 · %3 · %4")
               .arg(shard.label,
                    m_canvas->rangesOf(*at).replace(QLatin1Char('\n'), QStringLiteral("; ")),
                    format::bytes(shard.bytes), m_canvas->holdersText(*at));
  } else if (m_canvas->isComparing()) {
    const std::int64_t moved = m_canvas->picture().moved();
    const std::int64_t whole = made->bytesOf(m_tensor);
    text = moved == 0 ? tr("Nothing of %1 is sent.").arg(QString::fromStdString(spec.name))
                      : tr("%1 of %2 are sent to GPUs that do not hold them (+); one copy has %3.")
                            .arg(format::bytes(moved), QString::fromStdString(spec.name),
                                 format::bytes(whole));
  } else {
    text =
        tr("Point at a shard to see the GPUs that hold it. Drag GPUs in or out to see where the "
           "shards would go.");
  }
  m_footer->setText(text);
}

}  // namespace tessera::ui
