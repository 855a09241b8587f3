// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/connect_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/dialogs/agent_tests.h"
#include "ui/dialogs/profile_form.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/dialogs/spinner.h"
#include "ui/format.h"
#include "ui/pages/notice_bar.h"
#include "ui/sentences.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

enum Roles { EndpointRole = Qt::UserRole + 1, TagRole, ReadOnlyRole, CurrentRole };
constexpr int kProfileListWidth = 240;
constexpr int kProfileRowHeight = 48;
constexpr int kToastMs = 10'000;

/// Paints a dot in the colour of the tag, the name, and the address below it.
class ProfileDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {kProfileListWidth, kProfileRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(option.rect).adjusted(4, 2, -4, -2);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected || option.state.testFlag(QStyle::State_MouseOver)) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(selected ? theme.accentSoft : theme.soft);
      painter->drawRoundedRect(box, 6, 6);
    }
    if (option.state.testFlag(QStyle::State_HasFocus) && selected) {
      painter->setPen(theme.accent);
      painter->setBrush(Qt::NoBrush);
      painter->drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    const QColor tag = tagColor(index.data(TagRole).toString());
    const QRectF dot(box.left() + 10, box.top() + 10, 9, 9);
    painter->setPen(tag.alpha() == 0 ? QPen(theme.line) : Qt::NoPen);
    painter->setBrush(tag.alpha() == 0 ? Qt::NoBrush : QBrush(tag));
    painter->drawEllipse(dot);

    QString mark;
    if (index.data(CurrentRole).toBool()) {
      mark = ConnectDialog::tr("connected");
    } else if (index.data(ReadOnlyRole).toBool()) {
      mark = ConnectDialog::tr("read-only");
    }
    const QRectF text = box.adjusted(28, 4, -10, -4);
    painter->setFont(uiFont(10.5));
    painter->setPen(theme.dim);
    const qreal markWidth = painter->fontMetrics().horizontalAdvance(mark);
    painter->drawText(text.adjusted(0, 1, 0, 0), Qt::AlignRight | Qt::AlignTop, mark);
    painter->drawText(
        text, Qt::AlignLeft | Qt::AlignBottom,
        painter->fontMetrics().elidedText(index.data(EndpointRole).toString(), Qt::ElideMiddle,
                                          static_cast<int>(text.width())));
    painter->setFont(uiFont(12.5, 600));
    painter->setPen(theme.text);
    painter->drawText(
        text, Qt::AlignLeft | Qt::AlignTop,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight,
                                          static_cast<int>(text.width() - markWidth - 8)));
    painter->restore();
  }
};

QPushButton* button(const QString& text, const QString& name, QWidget* parent) {
  auto* made = new QPushButton(text, parent);
  made->setAccessibleName(name);
  return made;
}

}  // namespace

ConnectDialog::ConnectDialog(Connections& connections, Settings& settings, QWidget* parent)
    : Dialog(parent),
      m_connections(connections),
      m_settings(settings),
      m_list(new QListWidget(this)),
      m_add(button(tr("Add a cluster…"), tr("Add a cluster"), this)),
      m_pages(new QStackedWidget(this)),
      m_form(new ProfileForm(connections, this)),
      m_toast(new NoticeBar(this)) {
  setWindowTitle(tr("Connect"));
  m_list->setAccessibleName(tr("Known clusters"));
  m_list->setItemDelegate(new ProfileDelegate(m_list));
  m_list->setMouseTracking(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_details = makeDetails();
  m_empty = makeEmpty();
  for (QWidget* page : {m_details, static_cast<QWidget*>(m_form), m_empty})
    m_pages->addWidget(page);

  auto* side = new Surface(Surface::Tone::Panel, this);
  side->setEdge(Qt::RightEdge);
  side->setFixedWidth(kProfileListWidth + 16);
  auto* sideColumn = new QVBoxLayout(side);
  sideColumn->setContentsMargins(8, 12, 8, 12);
  auto* sideTitle = new QLabel(tr("CLUSTERS"), side);
  setRole(sideTitle, QStringLiteral("group"));
  sideTitle->setContentsMargins(8, 0, 0, 0);
  sideColumn->addWidget(sideTitle);
  sideColumn->addWidget(m_list, 1);
  sideColumn->addWidget(m_add);

  auto* main = new Surface(Surface::Tone::Canvas, this);
  auto* mainColumn = new QVBoxLayout(main);
  mainColumn->setContentsMargins(24, 18, 20, 16);
  mainColumn->addWidget(m_pages, 1);
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(side);
  row->addWidget(main, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row, 1);
  column->addWidget(m_toast);
  resize(860, 540);

  connect(m_list, &QListWidget::currentRowChanged, this, &ConnectDialog::showChosen);
  connect(m_list, &QListWidget::itemActivated, this, [this] {
    if (m_connect->isEnabled()) m_connect->click();
  });
  connect(m_add, &QPushButton::clicked, this, &ConnectDialog::showForm);
  connect(m_form, &ProfileForm::cancelled, this, [this] { reload(chosen()); });
  connect(m_form, &ProfileForm::added, this, [this](const QString& name) { reload(name); });
  connect(m_toast, &NoticeBar::actionTriggered, this, [this] {
    m_toast->hide();
    if (const auto status = m_connections.restore(); !status) {
      m_toast->say(Surface::Tone::Problem, localized(status.error().message));
    }
    reload(chosen());
  });
  reload(m_connections.current());
}

ConnectDialog::~ConnectDialog() {
  if (m_testing) m_connections.cancelTest();
}

QWidget* ConnectDialog::makeDetails() {
  auto* page = new QWidget(m_pages);
  m_title = new QLabel(page);
  setRole(m_title, QStringLiteral("number"));
  m_problem = new QLabel(page);
  m_problem->setWordWrap(true);
  setRole(m_problem, QStringLiteral("bad"));
  m_facts = new KeyValues(page);

  m_tag = new QComboBox(page);
  m_tag->setAccessibleName(tr("Colour tag"));
  m_readOnly = new QCheckBox(tr("Read-only: this panel cannot change the cluster"), page);
  m_readOnly->setAccessibleName(tr("Read-only"));
  auto* marks = new QHBoxLayout;
  auto* tagName = new QLabel(tr("colour tag"), page);
  setRole(tagName, QStringLiteral("hint"));
  tagName->setBuddy(m_tag);
  marks->addWidget(tagName);
  marks->addWidget(m_tag);
  marks->addSpacing(20);
  marks->addWidget(m_readOnly);
  marks->addStretch();

  auto* agents = new QLabel(tr("Agents"), page);
  setRole(agents, QStringLiteral("heading"));
  m_testNote = new QLabel(page);
  setRole(m_testNote, QStringLiteral("hint"));
  m_spinner = new Spinner(page);
  m_spinner->setReduceMotion(m_settings.flag(Setting::ReduceMotion));
  m_test = button(tr("Test"), tr("Test every agent"), page);
  m_test->setMinimumWidth(84);
  auto* testRow = new QHBoxLayout;
  testRow->addWidget(agents);
  testRow->addSpacing(10);
  testRow->addWidget(m_testNote);
  testRow->addStretch();
  testRow->addWidget(m_spinner);
  testRow->addWidget(m_test);
  m_tests = new AgentTests(page);
  auto* scroll = new QScrollArea(page);
  scroll->setWidget(m_tests);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setAccessibleName(tr("Results of the test"));
  scroll->viewport()->setAutoFillBackground(false);
  m_tests->setAutoFillBackground(false);

  m_forget = button(tr("Forget"), tr("Forget this cluster"), page);
  m_forget->setFlat(true);
  auto* close = button(tr("Close"), tr("Close without connecting"), page);
  m_connect = new QPushButton(tr("Connect"), page);
  m_connect->setProperty("primary", true);
  m_connect->setDefault(true);
  m_connect->setAccessibleName(tr("Connect"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_forget);
  buttons->addStretch();
  buttons->addWidget(close);
  buttons->addWidget(m_connect);

  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  column->addWidget(m_title);
  column->addWidget(m_problem);
  column->addWidget(m_facts);
  column->addLayout(marks);
  column->addWidget(new Rule(page));
  column->addLayout(testRow);
  column->addWidget(scroll, 1);
  column->addLayout(buttons);

  connect(m_tag, &QComboBox::currentIndexChanged, this, &ConnectDialog::storeTag);
  connect(m_readOnly, &QCheckBox::toggled, this, &ConnectDialog::storeTag);
  connect(m_test, &QPushButton::clicked, this, [this] {
    if (m_testing) {
      m_connections.cancelTest();
    } else {
      startTest();
    }
  });
  connect(m_forget, &QPushButton::clicked, this, &ConnectDialog::forget);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_connect, &QPushButton::clicked, this, [this] {
    const QString name = chosen();
    if (name.isEmpty()) return;
    emit connectRequested(name);
    accept();
  });
  return page;
}

QWidget* ConnectDialog::makeEmpty() {
  auto* page = new QWidget(m_pages);
  auto* title = new QLabel(tr("No cluster yet"), page);
  setRole(title, QStringLiteral("number"));
  auto* text = new QLabel(
      tr("Add a cluster by the address of its registrar, for example tcp://10.0.0.5:40001, or "
         "start a local cluster with emulated GPUs. The button runs this command:"),
      page);
  text->setWordWrap(true);
  setRole(text, QStringLiteral("hint"));
  auto* command = new QLabel(QStringLiteral("tesseractl up"), page);
  command->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  command->setAccessibleName(tr("Command that starts a local cluster"));
  auto* copy = button(tr("Copy"), tr("Copy the command"), page);
  copy->setFlat(true);
  connect(copy, &QPushButton::clicked, this,
          [command] { QGuiApplication::clipboard()->setText(command->text()); });
  auto* commandRow = new QHBoxLayout;
  commandRow->addWidget(command);
  commandRow->addWidget(copy);
  commandRow->addStretch();
  m_start = button(
      tr("Start local cluster (%1 nodes × %2 GPUs)").arg(kLocalNodes).arg(kLocalGpus),
      tr("Start a local cluster of %1 nodes with %2 GPUs each").arg(kLocalNodes).arg(kLocalGpus),
      page);
  m_start->setProperty("primary", true);
  auto* startRow = new QHBoxLayout;
  startRow->addWidget(m_start);
  startRow->addStretch();
  auto* close = button(tr("Close"), tr("Close without connecting"), page);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(close);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  column->addStretch(2);
  column->addWidget(title);
  column->addWidget(text);
  column->addLayout(commandRow);
  column->addLayout(startRow);
  column->addStretch(3);
  column->addLayout(buttons);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_start, &QPushButton::clicked, this, [this] {
    emit startLocalRequested();
    accept();
  });
  return page;
}

bool ConnectDialog::isEmpty() const { return m_pages->currentWidget() == m_empty; }

QString ConnectDialog::chosen() const {
  const QListWidgetItem* item = m_list->currentItem();
  return item == nullptr ? QString() : item->text();
}

void ConnectDialog::reload(const QString& select) {
  m_profiles = m_connections.profiles();
  m_list->blockSignals(true);
  m_list->clear();
  const QString current = m_connections.current();
  int row = 0;
  for (const ProfileInfo& profile : m_profiles) {
    const ProfileTag tag = ProfileTag::load(m_settings, profile.name);
    auto* item = new QListWidgetItem(profile.name, m_list);
    item->setData(EndpointRole, profile.problem.isEmpty() ? profile.registrar : profile.problem);
    item->setData(TagRole, tag.color);
    item->setData(ReadOnlyRole, tag.readOnly);
    item->setData(CurrentRole, profile.name == current);
    item->setData(Qt::AccessibleTextRole,
                  QString(tr("%1 at %2").arg(profile.name, profile.registrar) +
                          (tag.readOnly ? tr(", read-only") : QString()) +
                          (profile.name == current ? tr(", connected") : QString())));
    if (profile.name == select) row = m_list->count() - 1;
  }
  m_list->setCurrentRow(m_profiles.isEmpty() ? -1 : row);
  m_list->blockSignals(false);
  showChosen();
}

void ConnectDialog::showChosen() {
  if (m_testing) m_connections.cancelTest();
  m_tests->clear();
  m_testNote->clear();
  if (m_profiles.isEmpty()) {
    m_pages->setCurrentWidget(m_empty);
    return;
  }
  m_pages->setCurrentWidget(m_details);
  const int row = std::max(0, m_list->currentRow());
  const ProfileInfo& profile = m_profiles[row];
  const bool good = profile.problem.isEmpty();
  m_title->setText(profile.name);
  m_problem->setText(profile.problem);
  m_problem->setVisible(!good);
  m_facts->setVisible(good);
  std::vector<KeyValues::Row> rows{
      {tr("registrar"), profile.registrar},
      {tr("events"), profile.events},
      {tr("server key"), profile.serverKey.left(12) + QChar(0x2026), {}, profile.serverKey}};
  const auto path = [this](const QString& text) {
    return fontMetrics().elidedText(text, Qt::ElideMiddle, 380);
  };
  rows.push_back({tr("your key file"), path(profile.keyFile), {}, profile.keyFile});
  if (profile.folder.isEmpty()) {
    rows.push_back({tr("location"), tr("on other machines")});
  } else {
    rows.push_back(
        {tr("location"),
         profile.isRunning ? tr("on this machine, running") : tr("on this machine, stopped"),
         profile.isRunning ? QStringLiteral("ok") : QString(), profile.folder});
  }
  m_facts->setRows(rows);

  m_filling = true;
  const ProfileTag tag = ProfileTag::load(m_settings, profile.name);
  if (m_tag->count() == 0) {
    const std::pair<QString, QString> names[] = {{QString(), tr("none")},
                                                 {QStringLiteral("blue"), tr("blue")},
                                                 {QStringLiteral("green"), tr("green")},
                                                 {QStringLiteral("amber"), tr("amber")},
                                                 {QStringLiteral("red"), tr("red")},
                                                 {QStringLiteral("grey"), tr("grey")}};
    for (const auto& [name, text] : names) {
      QPixmap dot(QSize(12, 12) * devicePixelRatioF());
      dot.setDevicePixelRatio(devicePixelRatioF());
      dot.fill(Qt::transparent);
      QPainter painter(&dot);
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setBrush(tagColor(name));
      painter.setPen(name.isEmpty() ? QPen(Theme::current().line) : Qt::NoPen);
      painter.drawEllipse(QRectF(1.5, 1.5, 9, 9));
      painter.end();
      m_tag->addItem(QIcon(dot), text, name);
    }
  }
  m_tag->setCurrentIndex(std::max(0, m_tag->findData(tag.color)));
  m_readOnly->setChecked(tag.readOnly);
  m_filling = false;

  const bool isCurrent = profile.name == m_connections.current();
  m_connect->setText(isCurrent ? tr("Connect again") : tr("Connect"));
  m_connect->setEnabled(good);
  m_test->setEnabled(good);
  m_forget->setEnabled(!profile.isRunning);
  m_forget->setToolTip(
      profile.isRunning
          ? tr("The cluster runs on this machine. Stop it first: tesseractl down --cluster %1")
                .arg(profile.name)
          : tr("Remove the profile. The cluster and your key file are kept."));
}

void ConnectDialog::storeTag() {
  if (m_filling || chosen().isEmpty()) return;
  const ProfileTag tag{m_tag->currentData().toString(), m_readOnly->isChecked()};
  tag.store(m_settings, chosen());
  QListWidgetItem* item = m_list->currentItem();
  item->setData(TagRole, tag.color);
  item->setData(ReadOnlyRole, tag.readOnly);
}

void ConnectDialog::startTest() {
  m_tests->clear();
  m_testing = true;
  m_testNote->setText(tr("testing…"));
  m_spinner->setRunning(true);
  m_test->setText(tr("Cancel"));
  m_test->setAccessibleName(tr("Cancel the test"));
  m_testTime.start();
  const int number = ++m_testNumber;
  QPointer<ConnectDialog> self(this);
  m_connections.test(
      chosen(),
      [self, number](const AgentTest& row) {
        if (self && self->m_testing && self->m_testNumber == number) self->m_tests->add(row);
      },
      [self, number](const Result<void>& result) {
        if (!self || self->m_testNumber != number) return;
        if (!result && result.error().code == ErrorCode::kCancelled) {
          self->endTest(tr("cancelled"));
        } else if (!result) {
          self->endTest(format::error(result.error()));
        } else {
          self->endTest(
              tr("tested in %1")
                  .arg(format::seconds(static_cast<double>(self->m_testTime.elapsed()) / 1000)));
        }
      });
}

void ConnectDialog::endTest(const QString& note) {
  m_testing = false;
  m_testNote->setText(note);
  m_spinner->setRunning(false);
  m_test->setText(tr("Test"));
  m_test->setAccessibleName(tr("Test every agent"));
}

void ConnectDialog::forget() {
  const QString name = chosen();
  if (name.isEmpty()) return;
  if (const auto status = m_connections.forget(name); !status) {
    m_toast->say(Surface::Tone::Problem, localized(status.error().message));
    return;
  }
  m_toast->say(Surface::Tone::Accent, tr("%1 is forgotten.").arg(name), tr("Undo"));
  QTimer::singleShot(kToastMs, m_toast, &QWidget::hide);
  reload({});
}

void ConnectDialog::showForm() {
  m_form->clear();
  m_pages->setCurrentWidget(m_form);
  m_form->pasteEdit()->setFocus();
}

}  // namespace tessera::ui
