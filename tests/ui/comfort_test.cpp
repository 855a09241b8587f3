// SPDX-License-Identifier: Apache-2.0
// Every scene of the panel is legible, translatable and named. ctest runs this in a language with
// longer texts, in German, in the dark theme with fonts of 150 %, and at a scale factor of 2. Each
// run leaves a picture of each scene in the folder TESSERA_PICTURES, for eyes.
#include <cxxabi.h>

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QAbstractProxyModel>
#include <QApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <typeinfo>

#include "engine/lesson/lessons.h"
#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_scenes.h"
#include "tests/ui/pseudo_translator.h"
#include "tests/ui/widget_checks.h"
#include "ui/language.h"
#include "ui/lessons/lesson_list.h"

using namespace tessera;

namespace {

constexpr QSize kSmall(1280, 720), kSmallest(1024, 640);

/// What the panel shows and does not write: names, values and sentences of clusters, files, other
/// programs and of Qt.
QStringList dataTexts() {
  QStringList texts{
      QStringLiteral("GPU GPUs GiB MiB KiB tok"),
      QStringLiteral("Jun"),  // dates are those of the locale
      QStringLiteral("Ctrl Shift Alt Space Esc Enter Return Del Home End Tab PgUp PgDown"),
      QStringLiteral("Tessera tessera tesseractl Debian bookworm offscreen Qt English Deutsch"),
      QStringLiteral("Close Cancel"),  // standard buttons
      QStringLiteral(
          "local operator viewer text texts param AMD EPYC measured"),  // names and roles
      QStringLiteral("true false tanh erf keep"),                       // values of tesseractl
      QStringLiteral("jobs ranks full step epoch"),                     // files
      QStringLiteral("cluster job start mesh data mount DIR apt install modprobe fuse"),
      QStringLiteral("tune limit steps checkpoint list digest tensors logs stop topology measure"),
      QStringLiteral("probe registrar show keys viewer, AMD EPYC, measured"),
      QStringLiteral("clock congestion control, within this machine, not supported by this kernel"),
      QStringLiteral("No such file or directory, in a container: device, is missing, min"),
      QStringLiteral("n1 was lost while its GPUs were joining"),
      QStringLiteral("rank 2 on n0g2 ended with signal 9"),
      QStringLiteral("no longer holds the state"),
      QStringLiteral("database or disk is full, the key is not known, Trying again in"),
      QStringLiteral("n1 did not answer within 20 s, 1 of 2 agents started"),
      QStringLiteral("tp stays at 2, and dp is the largest that divides the batch"),
      QStringLiteral("within 3 % of the fastest step and a third of the bytes"),
      QStringLiteral("Fastest by estimate"),
      QStringLiteral("txn n0 out, assumed"),
      QStringLiteral("simulated")};
  // Lessons are translated as whole files.
  for (const ui::LessonEntry& lesson : ui::lessonEntries()) {
    texts << lesson.title << lesson.summary;
    const auto text = engine::FindLessonText(lesson.name.toStdString());
    if (text) texts << QString::fromStdString(text->text);
  }
  for (const engine::Event& event : test::PanelEvents()) {
    texts << QString::fromStdString(event.text);
  }
  return texts;
}

/// The class without its namespaces and outer classes.
QString classOf(const QAbstractItemModel& model) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(model).name(), nullptr, nullptr, nullptr), &std::free);
  return QString::fromLatin1(name.get()).section(QStringLiteral("::"), -1);
}

/// The classes of `ui/` that are item models, as their sources declare them.
QStringList modelClasses() {
  static const QRegularExpression declared(
      QStringLiteral("class (?:\\w+::)?(\\w+)(?: final)? : public (?:QAbstract(?:Item|List|Table)"
                     "Model|QSortFilterProxyModel|QStandardItemModel|ColumnTable<)"));
  QStringList classes;
  QDirIterator files(QStringLiteral(TESSERA_SOURCE_DIR "/ui"), {"*.h", "*.cpp"}, QDir::Files,
                     QDirIterator::Subdirectories);
  while (files.hasNext()) {
    QFile file(files.next());
    if (!file.open(QIODevice::ReadOnly)) continue;
    const QString text = QString::fromUtf8(file.readAll());
    for (auto each = declared.globalMatch(text); each.hasNext();)
      classes << each.next().captured(1);
  }
  classes.removeAll(QStringLiteral("ColumnTable"));  // the base of the tables
  return classes;
}

/// The texts that stay clipped once the layout has followed the texts, which takes some rounds of
/// the event loop.
QStringList clippedWhenSettled(const QWidget& top) {
  QStringList clipped;
  const auto isLegible = [&] {
    clipped = test::clippedTexts(top);
    return clipped.isEmpty();
  };
  (void)QTest::qWaitFor(isLegible, 3000);
  return clipped;
}

}  // namespace

class ComfortTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_pictures = qEnvironmentVariable("TESSERA_PICTURES");
    if (!m_pictures.isEmpty()) QVERIFY(QDir().mkpath(m_pictures));
    const QString language = qEnvironmentVariable("TESSERA_COMFORT_LANGUAGE");
    m_isLong = language.isEmpty();
    if (language == QLatin1String("german")) m_german.emplace(QLocale(QLocale::German));
    const bool dark = qEnvironmentVariable("TESSERA_COMFORT_THEME") == QLatin1String("dark");
    ui::applyTheme(*qApp, dark ? ui::ThemeMode::Dark : ui::ThemeMode::Light);
  }

  void cleanupTestCase() { m_german.reset(); }

  void thePseudoLanguageKeepsWhatItMust() {
    QCOMPARE(test::pseudo(QStringLiteral("&Go")), QStringLiteral("[&Ĝó~~]"));
    QCOMPARE(test::pseudo(QStringLiteral("%1 of %L2 <b>x</b> %n")),
             QStringLiteral("[~~~ %1 óƒ %L2 <b>x</b> %n]"));
    const QString text = QStringLiteral("The layout changed while the plan was made.");
    const auto longer = static_cast<double>(test::pseudo(text).size());
    QVERIFY(longer >= 1.4 * static_cast<double>(text.size()));
  }

  // The judge finds what is wrong before it finds that nothing is.
  void theChecksFindWhatIsWrong() {
    QWidget window;
    auto* clipped = new QPushButton(QStringLiteral("Apply: move 37.4 MiB"), &window);
    auto* outside = new QLabel(QStringLiteral("step"), &window);
    auto* nameless = new QLineEdit(&window);
    window.resize(200, 100);
    clipped->setGeometry(0, 0, 60, 30);
    outside->setGeometry(180, 40, 60, 20);
    nameless->setGeometry(0, 70, 60, 20);
    window.show();
    const QStringList found = test::clippedTexts(window);
    QCOMPARE(found.size(), 2);
    QVERIFY(found[0].contains(QLatin1String("Apply")) || found[1].contains(QLatin1String("Apply")));
    QCOMPARE(test::namelessWidgets(window).size(), 1);
    const QStringList plain = test::untranslatedTexts(window, {QStringLiteral("move")});
    QCOMPARE(plain.size(), 2);
    QVERIFY2(plain.join(u' ').contains(QLatin1String(": Apply MiB")),
             qPrintable(plain.join(u'\n')));
  }

  void everySceneIsLegible_data() {
    QTest::addColumn<int>("scene");
    int index = 0;
    for (const test::Scene& scene : test::PanelScenes()) {
      QTest::newRow(scene.name.toLatin1().constData()) << index++;
    }
  }
  void everySceneIsLegible() {
    QFETCH(int, scene);
    const test::Scene& shown = test::PanelScenes()[static_cast<std::size_t>(scene)];
    test::PseudoTranslator translator;
    if (m_isLong) QVERIFY(QCoreApplication::installTranslator(&translator));
    const test::Stage stage = shown.open();
    QVERIFY(stage.widget != nullptr);
    const QStringList clipped = clippedWhenSettled(*stage.widget);
    const QStringList nameless = test::namelessWidgets(*stage.widget);
    checkModels(*stage.widget);
    QStringList plain;
    // The guide is not translated text by text.
    if (m_isLong && shown.name != QLatin1String("guide")) {
      plain = test::untranslatedTexts(*stage.widget, dataTexts());
    }
    if (!m_pictures.isEmpty()) {
      const QString file = QStringLiteral("%1/%2.png").arg(m_pictures, shown.name);
      QVERIFY2(stage.widget->grab().save(file), qPrintable(file));
    }
    QCoreApplication::removeTranslator(&translator);
    QVERIFY2(clipped.isEmpty(), qPrintable(clipped.join(u'\n')));
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
    QVERIFY2(plain.isEmpty(), qPrintable(plain.join(u'\n')));
  }

  // As QAbstractItemModelTester wants them, which aborts otherwise; checkModels did that.
  void everyItemModelKeepsTheRules() {
    if (m_models.isEmpty()) QSKIP("no scene was shown");
    const QStringList classes = modelClasses();
    QVERIFY(classes.size() >= 13);
    for (const QString& name : classes) QVERIFY2(m_models.contains(name), qPrintable(name));
  }

  void aSmallWindowIsLegible_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QSize>("size");
    for (const char* name : {"mesh-live", "mesh-draft", "files-live"})
      QTest::addRow("%s, smallest", name) << QString::fromLatin1(name) << kSmallest;
    for (const char* name :
         {"mesh-live", "mesh-draft", "mesh-moving", "mesh-lost-node", "plan-too-large",
          "tensors-one", "links-moving", "flows-moving", "data-live", "files-live",
          "history-details", "lesson-task", "start-empty"})
      QTest::newRow(name) << QString::fromLatin1(name) << kSmall;
  }
  void aSmallWindowIsLegible() {
    QFETCH(QString, name);
    QFETCH(QSize, size);
    const auto& scenes = test::PanelScenes();
    const auto shown = std::ranges::find(scenes, name, &test::Scene::name);
    QVERIFY(shown != scenes.end());
    const test::Stage stage = shown->open();
    stage.widget->resize(size);
    test::settle();
    QCOMPARE(stage.widget->size(), size);
    const QStringList clipped = clippedWhenSettled(*stage.widget);
    if (!m_pictures.isEmpty()) {
      const QString file = QStringLiteral("%1/%2-%3.png").arg(m_pictures, name).arg(size.width());
      QVERIFY2(stage.widget->grab().save(file), qPrintable(file));
    }
    QVERIFY2(clipped.isEmpty(), qPrintable(clipped.join(u'\n')));
  }

 private:
  void checkModels(const QWidget& top) {
    for (const auto* view : top.findChildren<QAbstractItemView*>()) {
      auto* model = view->model();
      while (model != nullptr) {
        if (std::string_view(typeid(*model).name()).find("tessera") != std::string_view::npos) {
          m_models << classOf(*model);  // not of Qt
          const QAbstractItemModelTester tester(
              model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        }
        const auto* proxy = qobject_cast<const QAbstractProxyModel*>(model);
        model = proxy != nullptr ? proxy->sourceModel() : nullptr;
      }
    }
  }

  QSet<QString> m_models;  // classes that were checked
  QString m_pictures;
  bool m_isLong = true;
  std::optional<ui::Language> m_german;
};

TESSERA_THEMED_TEST(ComfortTest)
#include "comfort_test.moc"
