// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The keys of this user: list, new pair, revoke.

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <memory>

#include "ui/actions/cluster_list.h"
#include "ui/connections.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

using Keys = QList<KeyInfo>;

AnswerDialog::Shown showKeys(const Keys& keys, const QString& folder) {
  AnswerDialog::Shown shown;
  if (keys.isEmpty()) {
    shown.words = ClusterMenu::tr("There are no keys in %1. Make a pair here.").arg(folder);
    return shown;
  }
  shown.words = ClusterMenu::tr(
                    "Keys in %1. A secret key stays on this machine; the .pub file goes "
                    "into the folder of accepted keys of every node.")
                    .arg(folder);
  shown.table.titles = {{ClusterMenu::tr("File")},
                        {ClusterMenu::tr("Kind")},
                        {ClusterMenu::tr("Role")},
                        {ClusterMenu::tr("Public key")},
                        {ClusterMenu::tr("Note"), false, true}};
  for (const KeyInfo& key : keys) {
    shown.table.rows.push_back({QFileInfo(key.file).fileName(),
                                key.isPair ? ClusterMenu::tr("pair") : ClusterMenu::tr("public"),
                                key.role.isEmpty() ? format::unknown() : key.role, key.publicKey,
                                key.note});
  }
  return shown;
}

void revoke(const CommandContext& with, AnswerDialog* list, const KeyInfo& key) {
  const QString name = QFileInfo(key.file).completeBaseName();
  const QString folder = QFileDialog::getExistingDirectory(
      list, ClusterMenu::tr("Folder of accepted keys of a node"), QStringLiteral("/etc/tessera"));
  if (folder.isEmpty()) return;
  auto* ask = new TypedNameDialog(
      {.title = ClusterMenu::tr("Revoke key %1").arg(name),
       .says = {ClusterMenu::tr("The node refuses %1 within 2 s, also on connections that are "
                                "open. Repeat this on every node, or copy the folder.")
                    .arg(name),
                folder},
       .name = name,
       .button = ClusterMenu::tr("Revoke %1").arg(name),
       .keep = ClusterMenu::tr("Keep it"),
       .command = QStringLiteral("tesseractl keys revoke %1 --allowed %2").arg(name, folder)},
      list);
  ask->setAttribute(Qt::WA_DeleteOnClose);
  with.closeWithCluster(ask);
  QObject::connect(ask, &QDialog::accepted, list, [&with, list, name, folder] {
    if (const auto removed = with.connections->revokeKey(name, folder); removed) {
      with.say(ClusterMenu::tr("Removed %1.").arg(removed->join(QStringLiteral(", "))));
    } else {
      with.showError(
          ClusterMenu::tr("The key was not revoked: %1.").arg(format::error(removed.error())));
    }
    list->ask();
  });
  ask->open();
}

void openKeys(const CommandContext& with) {
  if (with.connections == nullptr) return;
  const auto known = std::make_shared<Keys>();
  auto* dialog = new AnswerDialog(
      {.title = ClusterMenu::tr("Keys"),
       .waiting = ClusterMenu::tr("Reading the key files…"),
       .failed = ClusterMenu::tr("The keys could not be listed: %1."),
       .again = ClusterMenu::tr("Read again"),
       .command = QStringLiteral("tesseractl keys list")},
      [&with, known](const AnswerDialog::Done& done) {
        auto keys = with.connections->keys();
        if (!keys) return done(keys.error());
        *known = *keys;
        done(showKeys(*known, with.connections->keyFolder()));
      },
      with.window);
  dialog->resize(860, 420);
  auto* name = new QLineEdit(dialog);
  name->setPlaceholderText(ClusterMenu::tr("name, such as lecture"));
  name->setAccessibleName(ClusterMenu::tr("Name of the new key"));
  auto* role = new QComboBox(dialog);
  role->setAccessibleName(ClusterMenu::tr("Role of the new key"));
  role->addItem(ClusterMenu::tr("viewer: sees"), QStringLiteral("viewer"));
  role->addItem(ClusterMenu::tr("operator: acts, and reads the state of jobs"),
                QStringLiteral("operator"));
  auto* make = new QPushButton(ClusterMenu::tr("New key"), dialog);
  make->setEnabled(false);
  QObject::connect(name, &QLineEdit::textChanged, make,
                   [make](const QString& text) { make->setEnabled(!text.isEmpty()); });
  QObject::connect(make, &QPushButton::clicked, dialog, [&with, dialog, name, role] {
    const auto made = with.connections->makeKey(name->text(), role->currentData().toString());
    if (made) {
      with.say(ClusterMenu::tr("Made %1.").arg(made->file));
      name->clear();
    } else {
      with.showError(ClusterMenu::tr("No key was made: %1.").arg(format::error(made.error())));
    }
    dialog->ask();
  });
  dialog->addControl(name);
  dialog->addControl(role);
  dialog->addControl(make);
  dialog->addRowButton(ClusterMenu::tr("Revoke…"),
                       [&with, dialog, known](int row) { revoke(with, dialog, (*known)[row]); });
  with.open(dialog);
}

}  // namespace

ClusterCommand keysCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.keys"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Ke&ys…"),
           .statusTip = ClusterMenu::tr("List this user's keys by role, make a pair, revoke one"),
           .blocked =
               [&with] {
                 return with.connections == nullptr ? ClusterMenu::tr("This panel has no profiles.")
                                                    : QString();
               }},
          [&with](bool) { openKeys(with); }};
}

}  // namespace tessera::ui
