// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/profile_form.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/dialogs/profile_fields.h"
#include "ui/sentences.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

ProfileForm::ProfileForm(Connections& connections, QWidget* parent)
    : QWidget(parent),
      m_connections(connections),
      m_paste(new QPlainTextEdit(this)),
      m_pasteNote(new QLabel(this)),
      m_add(new QPushButton(tr("Add cluster"), this)) {
  auto* title = new QLabel(tr("Add a cluster"), this);
  setRole(title, QStringLiteral("number"));
  m_paste->setPlaceholderText(tr("Paste a profile file here, or fill in the fields below"));
  m_paste->setAccessibleName(tr("Text of a profile file"));
  m_paste->setTabChangesFocus(true);
  m_paste->setFixedHeight(64);
  setRole(m_pasteNote, QStringLiteral("hint"));
  m_pasteNote->setWordWrap(true);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(2);
  const std::array<std::pair<QString, QString>, NUM_FIELDS> words{
      {{tr("Name"), QStringLiteral("lab-a")},
       {tr("Registrar"), QStringLiteral("tcp://10.0.0.5:40001")},
       {tr("Events"), QStringLiteral("tcp://10.0.0.5:40002")},
       {tr("Server key"), tr("the cluster's public key")},
       {tr("Key file"), tr("your own key pair")}}};
  for (int i = 0; i < NUM_FIELDS; ++i) {
    const auto at = static_cast<std::size_t>(i);
    auto* label = new QLabel(words[at].first, this);
    setRole(label, QStringLiteral("hint"));
    m_edits[at] = new QLineEdit(this);
    m_edits[at]->setPlaceholderText(words[at].second);
    m_edits[at]->setAccessibleName(words[at].first);
    label->setBuddy(m_edits[at]);
    m_notes[at] = new QLabel(this);
    setRole(m_notes[at], QStringLiteral("caption"));
    m_notes[at]->setFixedHeight(16);
    grid->addWidget(label, 2 * i, 0);
    grid->addWidget(m_edits[at], 2 * i, 1);
    grid->addWidget(m_notes[at], 2 * i + 1, 1, 1, 2);
    connect(m_edits[at], &QLineEdit::textEdited, this, [this, at] {
      m_touched[at] = true;
      refresh();
    });
    connect(m_edits[at], &QLineEdit::editingFinished, this, [this, at] {
      if (!m_edits[at]->text().isEmpty()) m_touched[at] = true;
      refresh();
    });
  }
  auto* browse = new QPushButton(tr("Choose…"), this);
  browse->setAccessibleName(tr("Choose the key file"));
  grid->addWidget(browse, 2 * KeyFile, 2);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Key file"));
    if (file.isEmpty()) return;
    m_edits[KeyFile]->setText(file);
    m_touched[KeyFile] = true;
    refresh();
  });

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAccessibleName(tr("Close without adding a cluster"));
  m_add->setProperty("primary", true);
  m_add->setAccessibleName(m_add->text());
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_add);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(title);
  column->addWidget(m_paste);
  column->addWidget(m_pasteNote);
  column->addLayout(grid);
  column->addStretch();
  column->addLayout(buttons);

  connect(m_paste, &QPlainTextEdit::textChanged, this, &ProfileForm::readPaste);
  connect(cancel, &QPushButton::clicked, this, &ProfileForm::cancelled);
  connect(m_add, &QPushButton::clicked, this, &ProfileForm::submit);
  refresh();
}

void ProfileForm::clear() {
  m_paste->clear();
  for (QLineEdit* edit : m_edits) edit->clear();
  m_touched = {};
  refresh();
}

ProfileInfo ProfileForm::profile() const {
  const auto text = [this](Field field) { return m_edits[field]->text().trimmed(); };
  return {text(Name), text(Registrar), text(Events), text(ServerKey), text(KeyFile)};
}

QString ProfileForm::check(Field field) const {
  const ProfileInfo now = profile();
  switch (field) {
    case Name:
      return ProfileFields::nameProblem(now.name, m_connections.profiles());
    case Registrar:
      return ProfileFields::endpointProblem(now.registrar);
    case Events:
      return ProfileFields::eventsProblem(now.events, now.registrar);
    case ServerKey:
      return ProfileFields::keyProblem(now.serverKey);
    case KeyFile:
      return ProfileFields::keyFileProblem(now.keyFile);
    case NUM_FIELDS:
      break;
  }
  return {};
}

bool ProfileForm::isGood() const {
  for (int i = 0; i < NUM_FIELDS; ++i) {
    if (!check(static_cast<Field>(i)).isEmpty()) return false;
  }
  return true;
}

QString ProfileForm::problem(Field field) const { return m_notes[field]->text(); }

void ProfileForm::refresh() {
  for (int i = 0; i < NUM_FIELDS; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const QString problem = check(static_cast<Field>(i));
    // No message for fields that were not edited yet.
    m_notes[at]->setText(m_touched[at] ? problem : QString());
    setRole(m_notes[at], problem.isEmpty() ? QStringLiteral("caption") : QStringLiteral("bad"));
  }
  m_add->setEnabled(isGood());
  m_add->setToolTip(isGood() ? QString() : tr("Some fields are missing or invalid."));
}

void ProfileForm::readPaste() {
  const QString text = m_paste->toPlainText().trimmed();
  if (text.isEmpty()) {
    m_pasteNote->clear();
    return;
  }
  const auto parsed = m_connections.parse(text);
  if (!parsed) {
    m_pasteNote->setText(localized(parsed.error().message));
    setRole(m_pasteNote, QStringLiteral("bad"));
    return;
  }
  m_pasteNote->setText(tr("Profile read. Check the key file: the path must be on this machine."));
  setRole(m_pasteNote, QStringLiteral("hint"));
  m_edits[Name]->setText(parsed->name);
  m_edits[Registrar]->setText(parsed->registrar);
  m_edits[Events]->setText(parsed->events);
  m_edits[ServerKey]->setText(parsed->serverKey);
  m_edits[KeyFile]->setText(parsed->keyFile);
  m_touched.fill(true);
  refresh();
}

void ProfileForm::submit() {
  const ProfileInfo next = profile();
  if (const auto status = m_connections.add(next); !status) {
    m_pasteNote->setText(localized(status.error().message));
    setRole(m_pasteNote, QStringLiteral("bad"));
    return;
  }
  emit added(next.name);
}

}  // namespace tessera::ui
