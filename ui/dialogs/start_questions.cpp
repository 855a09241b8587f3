// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/start_questions.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/widgets/device_chips.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/segmented_switch.h"

namespace tessera::ui {
namespace {

constexpr QLatin1String kSequenceField("sequence");
constexpr int kFormMargin = 16, kFieldGap = 12, kRowGap = 8;
constexpr std::ptrdiff_t kMostListed = 20;  // checkpoints in the menu

}  // namespace

StartQuestions::StartQuestions(const ClusterModel& model, ClusterCommands& commands,
                               QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_commands(commands),
      m_programs(new SegmentedSwitch(parent)),
      m_chips(new DeviceChips(this)),
      m_more(new QToolButton(this)),
      m_moreFields(new QWidget(this)) {
  setMinimumWidth(kWidth);
  m_programs->addSegment(BuiltIn, tr("Built-in model"), tr("Train a built-in model"));
  m_programs->addSegment(Own, tr("A program of your own"), tr("Train a program of your own"));
  m_programs->addSegment(Stored, tr("A checkpoint"), tr("Train the model of a checkpoint"));
  m_programs->setCurrent(BuiltIn);
  m_column = new QVBoxLayout(this);
  m_column->setContentsMargins(0, 0, kFormMargin, 0);
  m_column->setSpacing(kRowGap);
  makeProgramRows();
  makeUsualRows(m_column);
  connect(m_programs, &SegmentedSwitch::chosen, this, &StartQuestions::showProgram);
  connect(m_fields.at(kKind), &LabelledField::edited, this, &StartQuestions::showProgram);
  showModel();
  showProgram();
}

LabelledField* StartQuestions::addField(const QString& key, const QString& label, QWidget* parent) {
  auto* field = new LabelledField(label, parent);
  m_fields[key] = field;
  connect(field, &LabelledField::edited, this, [this, isModel = key == kModel] {
    if (isModel) showModel();
    emit edited();
  });
  return field;
}

void StartQuestions::newRow(const QList<Program>& programs) {
  auto* box = new QWidget(this);
  m_row = new QHBoxLayout(box);
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(kFieldGap);
  m_column->addWidget(box);
  m_shownFor.emplace_back(box, programs);
}

// The widths of halves, thirds and quarters of a row, so that fields of different rows align.
LabelledField* StartQuestions::place(const QString& key, const QString& label, int parts, int of,
                                     const QList<Program>& programs) {
  constexpr int kRoom = kWidth - kFormMargin;
  const int part = (kRoom - (of - 1) * kFieldGap) / of;
  LabelledField* field = addField(key, label, m_row->parentWidget());
  m_row->addWidget(field, parts * part + (parts - 1) * kFieldGap);
  if (!programs.isEmpty()) m_shownFor.emplace_back(field, programs);
  return field;
}

void StartQuestions::addBrowseButton(LabelledField* field, const QString& name, bool isFolder) {
  QPushButton* button = field->addButton(tr("…"), name);
  connect(button, &QPushButton::clicked, this,
          [this, field, isFolder] { browse(field, isFolder); });
}

// What runs: a model, a program with its files, or a checkpoint.
void StartQuestions::makeProgramRows() {
  using enum Program;
  using namespace start_field;
  const QList<Program> all = {Program::BuiltIn, Script, Files, Exec, Program::Stored};
  newRow(all);
  place(kModel, tr("Model"), 2, 3, {Program::BuiltIn});
  showModels();
  m_fields.at(kModel)->setValue(QStringLiteral("gpt-mini"));
  LabelledField* kind = place(kKind, tr("The program"), 2, 3, {Script, Files, Exec});
  kind->addChoice(QStringLiteral("script"), tr("uses tessera in Python"));
  kind->addChoice(QStringLiteral("files"), tr("loads and saves files"));
  kind->addChoice(QStringLiteral("exec"), tr("uses the rank library"));
  kind->setHelp(
      tr("How the program gives its state to the cluster. The guide has a page on each: "
         "“PyTorch”, “Through files” and “Your own job”."));
  LabelledField* settings = place(kSettings, tr("Other settings"), 2, 3, {Program::Stored});
  settings->setPlaceholder(tr("those of the checkpoint"));
  settings->setHint(QStringLiteral("learning_rate=1e-4; dropout=0"));
  settings->setHelp(
      tr("Settings that replace those of the checkpoint, as KEY=VALUE, separated by "
         ";. `tesseractl job start --help` lists the keys."));
  place(kName, tr("Name"), 1, 3);

  newRow({Script, Files});
  LabelledField* script = place(kScript, tr("Program"), 1, 1);
  addBrowseButton(script, tr("Choose a program"), false);
  newRow({Exec});
  LabelledField* command = place(kCommand, tr("Command of each rank"), 2, 3);
  command->setPlaceholder(QStringLiteral("/opt/my-job --lr 3e-4"));
  command->setHint(tr("It runs on the nodes: enter full paths."));
  LabelledField* finishes = place(kFinishes, tr("Makes up updates"), 1, 3);
  finishes->addChoice(QStringLiteral("no"), tr("no"));
  finishes->addChoice(QStringLiteral("yes"), tr("yes"));
  finishes->setHelp(
      tr("Yes: its ranks call tessera_unfinished, so a GPU that lacks an update can "
         "make up for it."));
  newRow({Files, Exec});
  const auto placeFile = [&](QLatin1String key, const QString& label, const QString& help,
                             const QString& name) {
    LabelledField* field = place(key, label, 1, 2);
    field->setHelp(help);
    field->setPlaceholder(QStringLiteral("/home/me/%1.json").arg(key));
    addBrowseButton(field, name, false);
  };
  placeFile(kTensors, tr("Tensors"),
            tr("The file with name, type and shape of each tensor of the job."),
            tr("Choose the file of the tensors"));
  placeFile(kRules, tr("Rules"), tr("The file that says how the tensors are cut and placed."),
            tr("Choose the file of the rules"));
  newRow({Script, Files});
  place(kArguments, tr("Arguments"), 1, 2)->setPlaceholder(QStringLiteral("--lr 3e-4"));
  LabelledField* python = place(kPython, tr("Python"), 1, 2);
  python->setPlaceholder(QStringLiteral("python3"));
  python->setHint(tr("with the same path on all nodes"));
  newRow({Script, Files});
  LabelledField* directory = place(kDirectory, tr("Working directory"), 1, 2);
  directory->setPlaceholder(tr("that of the program"));
  addBrowseButton(directory, tr("Choose the working directory"), true);
  LabelledField* environment = place(kEnvironment, tr("Environment"), 1, 2);
  environment->setPlaceholder(QStringLiteral("NAME=VALUE"));
  environment->setHint(tr("variables, separated by ;"));
  newRow({Files});
  LabelledField* every = place(kSaveEvery, tr("Save every"), 1, 3);
  every->setPlaceholder(tr("only for changes"));
  every->setHint(tr("steps"));
  every->setHelp(
      tr("The program saves its state for changes, pauses and digests. With a number it "
         "does so also every so many steps, and less is lost with a GPU."));
  m_row->addStretch(2 * kWidth / 3);

  newRow({Script, Files, Exec, Program::Stored});
  m_checkpointRow = m_row->parentWidget();
  m_checkpointPlace = m_column->indexOf(m_checkpointRow);
  LabelledField* checkpoint = place(kCheckpoint, tr("Begin with the checkpoint"), 3, 5);
  QPushButton* choose = checkpoint->addButton(tr("…"), tr("Choose a checkpoint"));
  connect(choose, &QPushButton::clicked, this, &StartQuestions::showCheckpoints);
  LabelledField* takes = place(kTakes, tr("Take over"), 2, 5);
  takes->addChoice(QStringLiteral("all"), tr("everything"));
  takes->addChoice(QStringLiteral("parameters"), tr("parameters only"));
  takes->setHelp(tr("Parameters only: moments, step and position in the data begin anew."));
}

// What every job has: data, length, policies and GPUs.
void StartQuestions::makeUsualRows(QVBoxLayout* column) {
  using enum Program;
  using namespace start_field;
  newRow({Program::BuiltIn, Program::Stored});
  LabelledField* texts = place(kData, tr("Data"), 2, 4);
  texts->setHint(tr("paths on the nodes, separated by ;"));
  addBrowseButton(texts, tr("Add a folder with data"), true);
  place(kBatch, tr("Global batch"), 1, 4)->setHint(tr("samples per step"));
  place(kSequenceField, tr("Sequence"), 1, 4, {Program::BuiltIn})->setHint(tr("tokens"));

  newRow({Program::BuiltIn, Script, Files, Exec, Program::Stored});
  place(kSteps, tr("Steps"), 1, 3)->setPlaceholder(tr("until stopped"));
  LabelledField* onFailure = place(kOnFailure, tr("If GPUs are lost"), 1, 3);
  onFailure->addChoice(QStringLiteral("ask"), tr("ask"));
  onFailure->addChoice(QStringLiteral("shrink"), tr("go on with fewer"));
  onFailure->addChoice(QStringLiteral("wait"), tr("wait for them"));
  LabelledField* snapshots = place(kSnapshots, tr("Snapshot every"), 1, 3);
  snapshots->setPlaceholder(tr("off"));
  snapshots->setHint(tr("20 (steps), 30s, 5m"));
  snapshots->setHelp(tr("A snapshot copies the state into the memory of two nodes."));

  newRow({Program::BuiltIn, Script, Files, Exec, Program::Stored});
  place(kGpus, tr("GPUs"), 1, 1);
  column->addWidget(m_chips);
  connect(m_chips, &DeviceChips::edited, this, [this] {
    const std::vector<ptc::DeviceId> chosen = m_chips->chosen();
    const bool isAll = chosen.size() == idleDevices(m_model.snapshot()).size();
    m_fields.at(start_field::kGpus)->setValue(isAll ? QString() : deviceArgument(chosen));
    emit edited();
  });

  m_more->setText(tr("More settings"));
  m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_more->setArrowType(Qt::RightArrow);
  m_more->setCheckable(true);
  m_more->setStyleSheet(
      QStringLiteral("QToolButton { padding: 3px 6px 3px 0px; } "
                     "QToolButton:checked { background: transparent; "
                     "border-color: transparent; font-weight: 400; }"));
  addMoreFields(m_moreFields);
  connect(m_more, &QToolButton::toggled, this, [this](bool on) {
    m_more->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
    m_moreFields->setVisible(on);
    emit moreToggled(on);
  });
  column->addSpacing(kRowGap);
  column->addWidget(m_more, 0, Qt::AlignLeft);
  column->addWidget(m_moreFields);
  column->addStretch(1);
}

void StartQuestions::addMoreFields(QWidget* parent) {
  auto* grid = new QGridLayout(parent);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(kFieldGap);
  grid->setVerticalSpacing(kRowGap);
  constexpr int kPerRow = 2;
  StartForm form;
  form.model = m_fields.at(kModel)->value();
  int at = 0;
  for (const StartField& each : form.moreFields()) {
    LabelledField* field = addField(each.key, each.label, parent);
    for (const QString& choice : each.choices) field->addChoice(choice, choice);
    field->setHelp(each.help);
    grid->addWidget(field, at / kPerRow, at % kPerRow, Qt::AlignTop);
    ++at;
  }
  for (int i = 0; i < kPerRow; ++i) grid->setColumnStretch(i, 1);
}

StartForm::Program StartQuestions::program() const {
  switch (m_programs->current()) {
    case Own: {
      const QString kind = m_fields.at(kKind)->value();
      return kind == u"files" ? Program::Files : kind == u"exec" ? Program::Exec : Program::Script;
    }
    case Stored:
      return Program::Stored;
    default:
      return Program::BuiltIn;
  }
}

void StartQuestions::showProgram() {
  const Program now = program();
  const bool isStored = now == Program::Stored, isBuiltIn = now == Program::BuiltIn;
  for (const auto& [widget, programs] : m_shownFor) widget->setVisible(programs.contains(now));
  m_more->setVisible(isBuiltIn);
  m_moreFields->setVisible(isBuiltIn && m_more->isChecked());
  // Where a checkpoint is what the job is about, it comes first.
  m_column->removeWidget(m_checkpointRow);
  m_column->insertWidget(isStored ? 0 : m_checkpointPlace, m_checkpointRow);
  using namespace start_field;
  m_fields.at(kCheckpoint)
      ->setPlaceholder(isStored ? QStringLiteral("/checkpoints/gpt-mini-400")
                                : tr("none: it begins anew"));
  LabelledField* script = m_fields.at(kScript);
  const bool usesPackage = now == Program::Script;
  script->setPlaceholder(usesPackage ? QStringLiteral("/home/me/train.py")
                                     : QStringLiteral("/home/me/train.sh"));
  script->setHint(usesPackage ? tr("It uses the package tessera: guide, “PyTorch”.")
                              : tr("In Python, for sh, or executable: guide, “Through files”."));
  m_fields.at(kData)->setPlaceholder(isStored ? tr("as in the checkpoint")
                                              : tr("texts on the nodes"));
  m_fields.at(kBatch)->setFallback(
      isStored ? QString() : QString::number(StartForm::settingsOf(m_shownModel).global_batch));
  if (isStored) m_fields.at(kBatch)->setPlaceholder(tr("as stored"));
  if (!isBuiltIn) askForCheckpoints();
  emit programChosen();
}

void StartQuestions::showModels() {
  LabelledField* field = m_fields.at(kModel);
  const QStringList models = StartForm::modelsOf(m_model.snapshot());
  for (int i = field->list() == nullptr ? 0 : field->list()->count(); i < models.size(); ++i)
    field->addChoice(models[i], models[i]);
}

void StartQuestions::showModel() {
  const QString model = m_fields.at(kModel)->value();
  if (model == m_shownModel) return;
  StartForm before, now;
  before.model = m_shownModel;
  now.model = model;
  std::vector<StartField> fields = now.moreFields();
  fields.push_back(now.settingField(kSequenceField));
  for (const StartField& each : fields) {
    LabelledField* field = m_fields.at(each.key);
    const bool hasDefault =
        m_shownModel.isEmpty() || field->value() == before.settingField(each.key).fallback;
    if (field->list() != nullptr && hasDefault) field->setValue(each.fallback);
    field->setFallback(each.fallback);
    if (each.key != kSequenceField) field->setHint(each.limits);
    field->setHelp(each.key == kSequenceField ? QString(each.help + QLatin1Char(' ') + each.limits)
                                              : each.help);
  }
  if (program() == Program::BuiltIn)
    m_fields.at(start_field::kBatch)
        ->setFallback(QString::number(StartForm::settingsOf(model).global_batch));
  m_fields.at(kModel)->setHint(StartForm::modelFacts(model));
  m_shownModel = model;
}

StartForm StartQuestions::form() const {
  StartForm form;
  form.program = program();
  form.model = m_fields.at(kModel)->value();
  for (const auto& [key, field] : m_fields)
    if (key != kModel && key != kKind) form.values[key] = field->value();
  // Without one a program runs in its own folder, not where the panel was started.
  QString& directory = form.values[start_field::kDirectory];
  const QString script = form.value(start_field::kScript);
  if (directory.trimmed().isEmpty() && script.contains(u'/'))
    directory = script.left(std::max<qsizetype>(1, script.lastIndexOf(u'/')));
  if (const engine::CheckpointEntry* stored = chosenCheckpoint())
    form.storedJob = QString::fromStdString(stored->job);
  return form;
}

void StartQuestions::showCheck(const StartCheck& check) {
  showModels();
  using namespace start_field;
  for (const auto& [key, field] : m_fields) {
    const auto problem = check.problems.find(key);
    // What is not chosen yet is no mistake.
    const bool isMissing =
        field->value().isEmpty() && (key == kScript || key == kCommand || key == kTensors ||
                                     key == kRules || key == kCheckpoint || key == kName);
    field->setProblem(problem == check.problems.end() || isMissing ? QString() : problem->second);
  }
  m_fields.at(kName)->setFallback(check.request.name);
  if (check.request.name.isEmpty())
    m_fields.at(kName)->setPlaceholder(program() == Program::Stored ? tr("as stored") : QString());
  const std::int64_t idle = std::ssize(idleDevices(m_model.snapshot()));
  m_fields.at(kGpus)->setPlaceholder(idle == 1 ? tr("the idle one")
                                               : tr("all %1 idle").arg(format::count(idle)));
  m_fields.at(kGpus)->setHint(tr("a number, or names such as n0g0,n0g1"));
  m_chips->setCluster(m_model.snapshot());
  m_chips->setChosen(check.devices);
  const engine::CheckpointEntry* stored = chosenCheckpoint();
  m_fields.at(kCheckpoint)
      ->setHint(stored == nullptr
                    ? tr("a folder on the nodes, or a URL")
                    : tr("%1, step %2, %3")
                          .arg(QString::fromStdString(stored->job), format::count(stored->step),
                               format::bytes(stored->bytes)));
}

void StartQuestions::browse(LabelledField* field, bool isFolder) {
  auto* dialog = new QFileDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFile);
  if (field == m_fields.at(start_field::kScript) && program() == Program::Script)
    dialog->setNameFilter(tr("Programs in Python (*.py)"));
  connect(dialog, &QFileDialog::fileSelected, this, [this, field](const QString& path) {
    const bool isList = field == m_fields.at(start_field::kData);
    const QString before = field->value().trimmed();
    field->setValue(isList && !before.isEmpty() ? QString(before + QStringLiteral("; ") + path)
                                                : path);
    emit edited();
  });
  dialog->open();
}

void StartQuestions::askForCheckpoints() {
  if (m_hasAsked || m_model.link() != LinkState::Connected) return;
  m_hasAsked = true;
  m_commands.ask(CheckpointsRequest{}, [self = QPointer<StartQuestions>(this)](
                                           Result<std::vector<engine::CheckpointEntry>> answer) {
    if (!self || !answer) return;
    std::erase_if(*answer, [](const auto& each) { return !each.problem.empty(); });
    std::ranges::stable_sort(*answer, std::greater(), &engine::CheckpointEntry::created);
    self->m_checkpoints = std::move(*answer);
    emit self->edited();
  });
}

// The cluster's own ones, then any folder.
void StartQuestions::showCheckpoints() {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setToolTipsVisible(true);
  LabelledField* field = m_fields.at(start_field::kCheckpoint);
  const auto count = std::min<std::ptrdiff_t>(kMostListed, std::ssize(m_checkpoints));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const engine::CheckpointEntry& each = m_checkpoints[static_cast<std::size_t>(i)];
    const QString path = QString::fromStdString(each.path);
    QString text =
        tr("%1, step %2").arg(QString::fromStdString(each.job), format::count(each.step));
    if (each.created > 0) text += QStringLiteral(" · ") + format::clock(each.created);
    QAction* action = menu->addAction(text);
    action->setToolTip(path);
    connect(action, &QAction::triggered, field, [this, field, path] {
      field->setValue(path);
      emit edited();
    });
  }
  if (count > 0) menu->addSeparator();
  connect(menu->addAction(tr("A folder…")), &QAction::triggered, field,
          [this, field] { browse(field, true); });
  menu->popup(field->mapToGlobal(QPoint(0, field->height())));
}

const engine::CheckpointEntry* StartQuestions::chosenCheckpoint() const {
  const std::string path = m_fields.at(start_field::kCheckpoint)->value().trimmed().toStdString();
  const auto found = std::ranges::find(m_checkpoints, path, &engine::CheckpointEntry::path);
  return found == m_checkpoints.end() ? nullptr : &*found;
}

}  // namespace tessera::ui
