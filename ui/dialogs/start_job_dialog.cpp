// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/start_job_dialog.h"

#include <QComboBox>
#include <QDateTime>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QPointer>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScreen>
#include <QScrollArea>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "ui/format.h"
#include "ui/pages/candidate_delegate.h"
#include "ui/pages/notice_bar.h"
#include "ui/sentences.h"
#include "ui/theme.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/quiet_table.h"
#include "ui/widgets/scrolled.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/stacked_bar.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

constexpr int kAnswersWidth = 336;
constexpr int kUsualHeight = 600, kTallHeight = 860, kScreenMargin = 80;
constexpr int kStartRowHeight = 26, kStartHeaderHeight = 24;
constexpr int kMostStartRows = 6;  // visible without scrolling

QLabel* startHeading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  setRole(label, QStringLiteral("heading"));
  return label;
}

}  // namespace

StartJobDialog::StartJobDialog(ClusterModel& model, MoveControl& control, ClusterCommands& commands,
                               const QString& cluster, QWidget* parent)
    : Dialog(parent),
      m_model(model),
      m_control(control),
      m_proposal(commands),
      m_cluster(cluster),
      m_questions(new StartQuestions(model, commands, this)),
      m_table(new QTableView(this)),
      m_describe(new QPushButton(this)),
      m_estimates(new QLabel(this)),
      m_why(wrappingLabel(QStringLiteral("hint"), this)),
      m_holds(new QLabel(this)),
      m_fit(wrappingLabel(QStringLiteral("warn"), this)),
      m_bar(new StackedBar(this)),
      m_error(new NoticeBar(this)),
      m_reason(wrappingLabel(QStringLiteral("hint"), this)),
      m_command(new CopyLine(tr("command"), tr("Copy"), this)),
      m_cancel(new QPushButton(tr("Cancel"), this)),
      m_start(new QPushButton(this)) {
  setWindowTitle(tr("Start a job"));
  auto* title = new QLabel(tr("Start a job"), this);
  title->setFont(uiFont(16, QFont::DemiBold));
  auto* place = new QLabel(m_cluster.isEmpty() ? QString() : tr("on %1").arg(m_cluster), this);
  setRole(place, QStringLiteral("hint"));
  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(title, 1);
  titleRow->addWidget(place);

  auto* programRow = new QHBoxLayout;
  programRow->addWidget(programs());
  programRow->addStretch();

  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  QScrollArea* questions = scrolled(m_questions, this);
  questions->setFocusPolicy(Qt::NoFocus);
  middle->addWidget(questions, 1);
  auto* answers = makeAnswers();
  middle->addWidget(answers);

  auto* content = new Surface(Surface::Tone::Canvas, this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(24, 20, 24, 18);
  column->setSpacing(12);
  column->addLayout(titleRow);
  column->addLayout(programRow);
  column->addLayout(middle, 1);
  column->addWidget(m_command);
  column->addLayout(makeBottom());
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(m_error);
  all->addWidget(content, 1);
  resize(StartQuestions::kWidth + kAnswersWidth + 2 * 24, kUsualHeight);

  connect(m_questions, &StartQuestions::edited, this, &StartJobDialog::refresh);
  connect(m_questions, &StartQuestions::programChosen, this, &StartJobDialog::showProgram);
  connect(m_questions, &StartQuestions::moreToggled, this, &StartJobDialog::showMore);
  connect(&m_proposal, &StartProposal::changed, this, &StartJobDialog::refreshProposal);
  connect(&m_model, &ClusterModel::changed, this, &StartJobDialog::follow);
  connect(&m_model, &ClusterModel::cleared, this, [this] { done(Rejected); });  // another cluster
  connect(&m_control, &MoveControl::changed, this, &StartJobDialog::refreshBottom);
  refresh();
  field(StartQuestions::kModel)->list()->setFocus();
}

QWidget* StartJobDialog::makeAnswers() {
  auto* page = new QWidget(this);
  page->setFixedWidth(kAnswersWidth);
  setRole(m_estimates, QStringLiteral("caption"));
  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(startHeading(tr("Configuration"), page));
  titleRow->addStretch();
  titleRow->addWidget(m_estimates);

  m_table->setModel(&m_candidates);
  m_table->setItemDelegate(new CandidateDelegate(m_table));
  m_table->setAccessibleName(tr("Configurations in which the job could start"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setStyleSheet(
      QStringLiteral("QTableView { background: transparent; } "
                     "QTableView::item { padding: 3px 2px; } "
                     "QHeaderView, QHeaderView::section { background: transparent; } "
                     "QHeaderView::section { padding: 4px 6px; }"));
  makeQuiet(*m_table, kStartRowHeight);
  QHeaderView* header = m_table->horizontalHeader();
  header->setFixedHeight(kStartHeaderHeight);
  header->setHighlightSections(false);
  header->setMinimumSectionSize(14);
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->setSectionResizeMode(CandidateTableModel::OptionsColumn, QHeaderView::Stretch);
  header->setSectionsClickable(false);
  for (const auto column : {CandidateTableModel::TokensColumn, CandidateTableModel::MovesColumn,
                            CandidateTableModel::PauseColumn})
    m_table->setColumnHidden(column, true);
  setColumnRoom(*m_table, CandidateTableModel::MarkColumn, 18);
  setColumnRoom(*m_table, CandidateTableModel::MeshColumn, 84);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (m_isMarking || rows.isEmpty()) return;
    const engine::Candidate& candidate =
        m_candidates.candidates()[static_cast<std::size_t>(rows.first().row())];
    m_wanted = {candidate.mesh, candidate.options};
    refreshMemory();
    refreshBottom();
  });

  connect(m_describe, &QPushButton::clicked, this, [this] {
    if (m_isStarting) return;  // it would end the reading of the script for the start
    m_described = std::get<StartRequest::Script>(m_check.request.program);
    m_proposal.follow(m_check.request);
    m_proposal.askAgain();
    refresh();
  });

  setRole(m_holds, QStringLiteral("caption"));
  auto* holdsRow = new QHBoxLayout;
  holdsRow->addWidget(startHeading(tr("Each GPU will hold"), page));
  holdsRow->addStretch();
  holdsRow->addWidget(m_holds);

  auto* column = new QVBoxLayout;
  column->setContentsMargins(20, 0, 0, 0);
  column->setSpacing(8);
  column->addLayout(titleRow);
  column->addWidget(m_table);
  column->addWidget(m_why);
  column->addWidget(m_describe, 0, Qt::AlignLeft);
  column->addSpacing(12);
  column->addLayout(holdsRow);
  column->addWidget(m_bar);
  column->addWidget(m_fit);
  column->addStretch(1);
  auto* line = new QFrame(page);
  line->setFrameShape(QFrame::VLine);
  line->setFrameShadow(QFrame::Plain);
  auto* row = new QHBoxLayout(page);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(line);
  row->addLayout(column, 1);
  return page;
}

QLayout* StartJobDialog::makeBottom() {
  m_start->setProperty("primary", true);
  m_command->setToolTip(tr("The same as a command"));
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(m_reason, 1);
  row->addSpacing(8);
  row->addWidget(m_cancel);
  row->addWidget(m_start);
  connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_start, &QPushButton::clicked, this, &StartJobDialog::start);
  return row;
}

const StartRequest::Script* StartJobDialog::script() const {
  return std::get_if<StartRequest::Script>(&m_check.request.program);
}

bool StartJobDialog::isUnknown() const {
  return script() != nullptr && !(m_described && *m_described == *script());
}

void StartJobDialog::showProgram() {
  const bool isOwn = programs()->current() == StartQuestions::Own;  // has many fields
  showMore(isOwn || moreButton()->isChecked());
  m_wanted.reset();
  m_proposal.clear();
  refresh();
}

void StartJobDialog::showMore(bool on) {
  const int room = screen()->availableGeometry().height() - kScreenMargin;
  resize(width(), std::max(kUsualHeight, on ? std::min(kTallHeight, room) : kUsualHeight));
}

// Snapshots come many times a second, and most change nothing here.
void StartJobDialog::follow() {
  const engine::ClusterSnapshot& cluster = m_model.snapshot();
  Seen seen{m_model.link(), idleDevices(cluster), {}};
  for (const engine::JobStatus& job : cluster.jobs) seen.jobs.push_back(job.name);
  if (m_seen == seen) return refreshBottom();
  m_seen = std::move(seen);
  refresh();
}

void StartJobDialog::refresh() {
  const engine::ClusterSnapshot& cluster = m_model.snapshot();
  if (m_isStarting) {  // the window shows how the job goes on
    if (m_model.findJob(m_check.request.name.toStdString()) != nullptr) hide();
    return;
  }
  m_check = checkStart(m_questions->form(), cluster);
  m_questions->showCheck(m_check);
  const bool mayAsk = m_model.link() == LinkState::Connected && m_model.viewerKey().isEmpty();
  if (!mayAsk || !m_check.isGood()) {
    m_proposal.pause();
  } else if (isUnknown()) {
    m_proposal.clear();
  } else {
    StartRequest asked = m_check.request;
    asked.devices = m_check.devices;
    m_proposal.follow(asked);
  }
  refreshProposal();
}

void StartJobDialog::refreshProposal() {
  const auto& proposal = m_proposal.proposal();
  {
    const QScopedValueRollback<bool> silent(m_isMarking, true);
    m_candidates.setCandidates(proposal ? proposal->candidates : std::vector<engine::Candidate>(),
                               {});
  }
  setNumberRoom(*m_table, CandidateTableModel::StepColumn, 62);
  setNumberRoom(*m_table, CandidateTableModel::PeakColumn, 112);
  const int rows = m_candidates.rowCount();
  m_table->setVisible(rows > 0);
  m_table->setFixedHeight(kStartHeaderHeight +
                          kStartRowHeight * std::clamp(rows, 1, kMostStartRows) + 2);
  m_estimates->setText(rows == 0 ? QString() : tr("≈ estimates"));

  const bool isUnknown = this->isUnknown();
  QString why;
  switch (m_proposal.state()) {
    case StartProposal::State::None:
      if (!m_model.viewerKey().isEmpty())
        why = m_control.readOnlyReason();
      else if (isUnknown)
        why =
            tr("The cluster chooses the configuration. To see it first, let the panel look into "
               "the program: that runs it on this machine up to the point where it says which "
               "tensors it has.");
      else if (rows == 0)
        why = tr("Configurations appear once the answers on the left are right.");
      break;
    case StartProposal::State::Asking:
      if (script() != nullptr)
        why = tr("Looking into the program…");
      else if (rows == 0)
        why = tr("Looking for configurations…");
      break;
    case StartProposal::State::Failed:
      why = tr("There are no configurations: %1.").arg(m_proposal.problem());
      break;
    case StartProposal::State::Ready:
      if (rows == 0) why = tr("No configuration of the job uses these GPUs.");
      break;
  }
  if (why.isEmpty() && proposal) {
    why = capitalized(localized(proposal->why));
    if (proposal->calibrated)
      why += QLatin1Char(' ') +
             tr("Machines measured on %1.")
                 .arg(QLocale().toString(
                     QDateTime::fromSecsSinceEpoch(static_cast<qint64>(*proposal->calibrated)),
                     QLocale::ShortFormat));
    else
      why += QLatin1Char(' ') + tr("Times are guesses: tesseractl probe measures this cluster.");
  }
  m_why->setText(why);
  setRole(m_why, m_proposal.state() == StartProposal::State::Failed ? QStringLiteral("bad")
                                                                    : QStringLiteral("hint"));
  m_describe->setVisible(isUnknown);
  m_describe->setEnabled(m_check.isGood() && m_model.link() == LinkState::Connected);
  m_describe->setText(tr("Look into the program"));
  markChosen();
  refreshMemory();
  refreshBottom();
}

void StartJobDialog::markChosen() {
  const QScopedValueRollback<bool> silent(m_isMarking, true);
  const std::vector<engine::Candidate>& all = m_candidates.candidates();
  auto found = std::ranges::find_if(all, [this](const engine::Candidate& each) {
    return m_wanted && each.mesh == m_wanted->first && each.options == m_wanted->second;
  });
  if (found == all.end()) found = std::ranges::find(all, true, &engine::Candidate::recommended);
  if (found == all.end()) found = all.begin();
  if (all.empty()) return m_table->clearSelection();
  m_table->selectionModel()->setCurrentIndex(
      m_candidates.index(static_cast<int>(found - all.begin()), CandidateTableModel::MeshColumn),
      QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

const engine::Candidate* StartJobDialog::chosen() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  if (rows.isEmpty()) return nullptr;
  return &m_candidates.candidates()[static_cast<std::size_t>(rows.first().row())];
}

void StartJobDialog::refreshMemory() {
  const engine::Candidate* const candidate = chosen();
  std::vector<StackedBar::Segment> segments;
  if (candidate != nullptr) {
    const std::int64_t free =
        std::max<std::int64_t>(0, candidate->capacity - candidate->peak_bytes);
    using enum StackedBar::Tone;
    const bool isModel = std::holds_alternative<StartRequest::BuiltIn>(m_check.request.program);
    const auto memory = isModel ? startMemory(m_check.settings, *candidate) : std::nullopt;
    if (memory) {
      segments = {{tr("parameters"), memory->parameters, Parameters},
                  {tr("AdamW"), memory->optimizer, Optimizer},
                  {tr("gradients"), memory->gradients, Gradients}};
    } else {
      segments = {{tr("state and gradients"), candidate->peak_bytes, Parameters}};
    }
    segments.push_back({tr("free"), free, Free});
  }
  m_bar->setSegments(std::move(segments));
  m_bar->setOutdated(m_proposal.state() == StartProposal::State::Asking);
  m_holds->setText(candidate == nullptr
                       ? format::unknown()
                       : format::bytesOf(candidate->peak_bytes, candidate->capacity));
  QString fit;
  if (candidate != nullptr && fitOf(*candidate) == Fit::TooLarge) {
    fit = tr("It does not fit: a GPU would hold %1.")
              .arg(format::bytesOf(candidate->peak_bytes, candidate->capacity));
  } else if (candidate != nullptr && fitOf(*candidate) == Fit::Tight) {
    fit = tr("Less than 10 % of a GPU is left. A later change of the mesh may need more.");
  }
  const bool isTooLarge = candidate != nullptr && !candidate->fits();
  setRole(m_fit, isTooLarge ? QStringLiteral("bad") : QStringLiteral("warn"));
  m_fit->setText(fit);
  m_fit->setVisible(!fit.isEmpty());
}

QString StartJobDialog::blockedReason() const {
  if (m_isStarting) return tr("The cluster is starting the job.");
  if (const QString reason = m_control.lockReason(); !reason.isEmpty()) return reason;
  if (m_model.runningTxn() != nullptr) return tr("A change is in progress.");
  if (!m_check.isGood()) {
    const auto gpus = m_check.problems.find(start_field::kGpus);
    if (gpus != m_check.problems.end()) return gpus->second;
    auto first = m_check.problems.begin();
    for (const QLatin1String key : {start_field::kScript, start_field::kCommand})  // asked first
      if (const auto found = m_check.problems.find(key); found != m_check.problems.end())
        first = found;
    return tr("%1: %2").arg(field(first->first)->label(), first->second);
  }
  switch (m_proposal.state()) {
    case StartProposal::State::None:
      break;
    case StartProposal::State::Asking:
      return tr("Looking for configurations…");
    case StartProposal::State::Failed:
      return tr("%1.").arg(m_proposal.problem());
    case StartProposal::State::Ready:
      if (const auto* candidate = chosen(); candidate != nullptr && !candidate->fits())
        return tr("Not enough memory: a GPU would hold %1.")
            .arg(format::bytesOf(candidate->peak_bytes, candidate->capacity));
      break;
  }
  return {};
}

StartRequest StartJobDialog::request() const {
  StartRequest request = m_check.request;
  const engine::Candidate* const candidate = chosen();
  if (candidate == nullptr) return request;
  request.mesh = candidate->mesh;
  request.options = candidate->options;
  if (!request.devices.empty() || !candidate->idle.empty()) request.devices = candidate->devices;
  return request;
}

void StartJobDialog::refreshBottom() {
  const engine::Candidate* const candidate = chosen();
  const auto gpus = static_cast<std::int64_t>(candidate == nullptr ? m_check.devices.size()
                                                                   : candidate->devices.size());
  m_start->setText(m_isStarting                     ? tr("Starting…")
                   : m_check.request.name.isEmpty() ? tr("Start")
                   : gpus == 0
                       ? tr("Start %1").arg(m_check.request.name)
                       : tr("Start %1 on %2").arg(m_check.request.name, format::gpus(gpus)));
  m_start->setAccessibleName(m_start->text());
  const QString reason = blockedReason();
  m_start->setEnabled(reason.isEmpty());
  m_start->setToolTip(reason);
  // A short search is no reason to show and hide a line.
  const bool isShort = m_proposal.state() == StartProposal::State::Asking && m_check.isGood() &&
                       m_control.lockReason().isEmpty();
  if (!isShort) m_reason->setText(reason);
  m_cancel->setText(m_isStarting ? tr("Close") : tr("Cancel"));
  using namespace start_field;
  const bool isComplete =
      std::ranges::none_of(std::array{kScript, kCommand, kTensors, kRules, kCheckpoint},
                           [this](QLatin1String key) { return m_check.problems.contains(key); });
  m_command->setText(isComplete ? startCommand(m_cluster, request()) : QString());
  m_command->button()->setEnabled(isComplete);
}

void StartJobDialog::suggest(const engine::JobStatus& job) {
  const auto fill = [this](const QString& key, const QString& value) {
    field(key)->setValue(value);
    emit field(key)->edited();
  };
  const QString model = QString::fromStdString(job.model);
  if (job.command.empty() && StartForm::modelsOf(m_model.snapshot()).contains(model)) {
    fill(StartQuestions::kModel, model);
    fill(start_field::kBatch, QString::number(job.global_batch));
    if (job.max_steps > 0) fill(start_field::kSteps, QString::number(job.max_steps));
  }
  fill(start_field::kName, QString::fromStdString(job.name));
}

QString StartJobDialog::whyText() const { return m_why->text(); }

void StartJobDialog::start() {
  if (!blockedReason().isEmpty()) return;
  m_error->hide();
  m_isStarting = true;
  m_describe->setEnabled(false);
  const StartRequest wanted = request();
  refreshBottom();
  m_control.startJob(wanted, [self = QPointer<StartJobDialog>(this)](const Result<void>& result) {
    if (self) self->onAnswer(result);
  });
}

void StartJobDialog::onAnswer(const Result<void>& result) {
  m_isStarting = false;
  const QString& given = m_check.request.name;
  const QString name = given.isEmpty() ? tr("The job") : given;
  const engine::JobStatus* const job = m_model.findJob(given.toStdString());
  const bool isRunning = job != nullptr && job->state == engine::JobState::kRunning;
  if (result || isRunning) return accept();
  using enum ErrorCode;
  const ErrorCode code = result.error().code;
  const bool isUnknown =
      code == kUnavailable || code == kTimeout || code == kCancelled || code == kOutcomeUnknown;
  const QString why = format::error(result.error());
  m_error->say(Surface::Tone::Problem,
               isUnknown ? tr("It is not known whether %1 starts: %2.").arg(name, why)
                         : tr("%1 did not start: %2.").arg(name, why));
  refresh();
  show();
  raise();
}

// The answer of the cluster shows it again if something is wrong.
void StartJobDialog::reject() {
  if (m_isStarting) return hide();
  QDialog::reject();
}

// Enter in a field goes to the button; only there it starts the job.
void StartJobDialog::keyPressEvent(QKeyEvent* event) {
  const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!isEnter || qobject_cast<QAbstractButton*>(focusWidget()) != nullptr)
    return Dialog::keyPressEvent(event);
  if (m_start->isEnabled()) m_start->setFocus();
}

}  // namespace tessera::ui
