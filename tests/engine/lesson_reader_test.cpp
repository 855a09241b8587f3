// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files of lessons: what is read, and how a mistake is reported. Expressions and their units.
#include <QTest>

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_names.h"
#include "engine/lesson/lesson_stage.h"
#include "engine/lesson/lesson_translation.h"
#include "engine/lesson/lesson_value.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

/// A lesson of one step, whose members can be replaced.
struct LessonParts {
  std::string title = R"("A lesson")";
  std::string job = R"({"model": "gpt-nano", "mesh": "dp=2"})";
  std::string step = R"({"text": "A step."})";
};

/// Line 2: title. Line 4: job. Line 6: the step.
std::string LessonJson(const LessonParts& parts = {}) {
  return "{\n  \"title\": " + parts.title +
         ",\n  \"summary\": \"It shows something.\",\n  \"job\": " + parts.job +
         ",\n  \"steps\": [\n    " + parts.step + "\n  ]\n}\n";
}

const char* const kAskingStep = R"({"text": "There are {dp}.", "predict": {"ask": "How many?", )"
                                R"("answer": "dp", "choices": [{"value": "dp", "text": "all"}, )"
                                R"({"value": "dp + 1"}]}})";

/// Line 4: the steps. Line 5: the step.
std::string TranslationJson(const std::string& step) {
  return "{\n  \"title\": \"Eine Lektion\",\n  \"summary\": \"Sie zeigt etwas.\",\n  \"steps\": [\n"
         "    " +
         step + "\n  ]\n}\n";
}

std::string ProblemOf(const std::string& json) {
  const NamedText file{"l.json", json};
  auto lesson = engine::ReadLesson(file);
  if (!lesson) return lesson.error().message;
  const auto stage = engine::LessonStage::Make(*std::move(lesson));
  if (!stage) return engine::WithLessonColumn(stage.error(), file).message;
  const auto rehearsed = engine::RehearseLesson(*stage);
  return rehearsed ? "" : engine::WithLessonColumn(rehearsed.error(), file).message;
}

engine::LessonNames Numbers() {
  return
      [](const std::string& name, const std::vector<std::string>&) -> Result<engine::LessonValue> {
        if (name == "eight") return engine::LessonValue{engine::LessonUnit::kBytes, 8, {}};
        if (name == "two") return engine::LessonValue{engine::LessonUnit::kCount, 2, {}};
        if (name == "port") return engine::LessonValue{engine::LessonUnit::kText, 0, "n0 out"};
        return InvalidArgument("no value '" + name + "'");
      };
}

}  // namespace

class LessonReaderTest : public QObject {
  Q_OBJECT

 private slots:
  void aSmallLessonIsRead() {
    const auto lesson = engine::ReadLesson({"a/07-small-one.json", LessonJson()});
    QVERIFY2(lesson.has_value(), lesson ? "" : lesson.error().message.c_str());
    QCOMPARE(lesson->name, std::string("small-one"));
    QCOMPARE(lesson->title, std::string("A lesson"));
    QCOMPARE(lesson->steps.size(), std::size_t{1});
    QCOMPARE(lesson->steps[0].line, 6);
    QCOMPARE(lesson->setup.cluster.nodes, std::int64_t{2});
    QCOMPARE(ProblemOf(LessonJson()), std::string());
  }

  void mistakesNameTheirPlace_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const LessonParts& parts, const char* problem) {
      QTest::newRow(name) << QString::fromStdString(LessonJson(parts))
                          << QString::fromUtf8(problem);
    };
    QTest::newRow("no json") << "{\"title\": oh}"
                             << "l.json:1:1: not json at 'o'";
    row("unknown key", {.step = R"({"text": "A step.", "colour": "red"})"},
        "l.json:6:25: unknown key 'colour'");
    row("unknown action", {.step = R"({"text": "A step.", "actions": [{"jump": true}]})"},
        "l.json:6:38: unknown key 'jump'");
    row("two actions in one",
        {.step = R"({"text": "A step.", "actions": [{"move": true, "view": "mesh"}]})"},
        "l.json:6:5: an action has one key, this one has 2");
    row("wrong type", {.title = "7"}, "l.json:2:3: 'title' must be a text, not 7");
    row("missing key", {.step = R"({"actions": []})"}, "l.json:6:5: a step needs 'text'");
    row("unknown view", {.step = R"({"text": "A.", "actions": [{"view": "sky"}]})"},
        "l.json:6:33: 'view' must be one of mesh, tensors, links, data, not 'sky'");
    row("text too long",
        {.step = "{\"text\": \"" +
                 [] {
                   std::string words;
                   for (int i = 0; i < 61; ++i) words += "word ";
                   return words;
                 }() +
                 "\"}"},
        "l.json:6:6: 'text' has 61 words, at most 60 are allowed");
    row("unknown value in a text", {.step = R"({"text": "It has {wheels}."})"},
        "l.json:6:6: 'text': there is no value 'wheels'");
    row("unknown model", {.job = R"({"model": "gpt-huge", "mesh": "dp=2"})"}, "l.json:1:1: ");
    row("too few GPUs", {.job = R"({"model": "gpt-nano", "mesh": "dp=9"})"},
        "l.json:1:1: job: dp=9,tp=1,pp=1 needs 9 GPUs, the cluster has 8");
    row("unknown GPU", {.step = R"({"text": "A.", "actions": [{"select": "n7g0"}]})"},
        "l.json:6:5: the cluster has no GPU n7g0");
    row("a move without a plan", {.step = R"({"text": "A.", "actions": [{"move": true}]})"},
        "l.json:6:33: 'move' needs a 'plan' before it");
    row("a swap of one GPU", {.step = R"({"text": "A.", "actions": [{"swap": ["n0g0"]}]})"},
        "l.json:6:33: 'swap' has 1 texts, it needs two with GPUs such as n0g0");
    row("a swap of numbers", {.step = R"({"text": "A.", "actions": [{"swap": [0, 1]}]})"},
        "l.json:6:33: 'swap' must have texts such as \"n0g0\", not 0");
    row("a swap of what is no GPU",
        {.step = R"({"text": "A.", "actions": [{"swap": ["n0g0", "gpu"]}]})"},
        "l.json:6:33: 'swap': ");
    row("a swap of two for one",
        {.step = R"({"text": "A.", "actions": [{"swap": ["n0g0,n0g1", "n1g0"]}]})"},
        "l.json:6:33: 'swap' has 2 GPUs for 1: as many on both sides");
    row("a swap with itself",
        {.step = R"({"text": "A.", "actions": [{"swap": ["n0g0", "n0g0"]}]})"},
        "l.json:6:33: 'swap' names GPU n0g0 twice");
    row("a swap of idle GPUs",
        {.step = R"({"text": "A.", "actions": [{"swap": ["n1g0", "n1g1"]}]})"},
        "l.json:6:33: 'swap': neither n1g0 nor n1g1 is in the job");
    row("a swap with a GPU that does not exist",
        {.step = R"({"text": "A.", "actions": [{"swap": ["n0g0", "n9g0"]}]})"},
        "l.json:6:5: the cluster has no GPU n9g0");
    row("a fixed order of unknown GPUs",
        {.step = R"({"text": "A.", "actions": [{"plan": {"mesh": "dp=4", "pin": true}}]})"},
        "l.json:6:58: 'pin' needs 'devices', whose order it fixes");
    row("an answer without a plan",
        {.step = R"({"text": "A.", "predict": {"ask": "How many?", "answer": "moved_bytes"}})"},
        "l.json:6:20: 'predict': 'moved_bytes' needs a plan, and there is none");
    row("no choice is right",
        {.step = R"({"text": "A.", "predict": {"ask": "How many?", "answer": "dp",)"
                 R"( "choices": [{"value": "5"}, {"value": "6"}]}})"},
        "l.json:6:20: 'predict': no choice has the answer, which is 2");
    row("a task that is done already",
        {.step = R"({"text": "A.", "do": {"text": "Do it.", "check": ["dp = 2"],)"
                 R"( "solution": {"mesh": "dp=4"}}})"},
        "l.json:6:20: 'do' is done before anything is drafted");
    row("a solution that does not solve it",
        {.step = R"({"text": "A.", "do": {"text": "Do it.", "check": ["dp = 8"],)"
                 R"( "solution": {"mesh": "dp=4"}}})"},
        "l.json:6:55: the solution does not meet 'dp = 8': it has 4");
  }
  void mistakesNameTheirPlace() {
    QFETCH(QString, json);
    QFETCH(QString, problem);
    const QString found = QString::fromStdString(ProblemOf(json.toStdString()));
    QVERIFY2(found.startsWith(problem), qPrintable(found));
  }

  void filesOfTranslationsAreKnown() {
    QCOMPARE(engine::LessonLanguageOf("a/01-shards.de.json"), std::string("de"));
    QCOMPARE(engine::LessonLanguageOf("a/01-shards.json"), std::string());
    QCOMPARE(engine::LessonLanguageOf("v1.20.json"), std::string());
    QCOMPARE(engine::LessonLanguageOf(".de.json"), std::string());
    QCOMPARE(engine::LessonTranslationPath("a/01-shards.json", "de"),
             std::string("a/01-shards.de.json"));
    QCOMPARE(engine::LessonNameOf("a/01-shards.de.json"), std::string("shards"));
    const auto lesson = engine::ReadLesson({"a/l.de.json", LessonJson()});
    QVERIFY(!lesson);
    QCOMPARE(QString::fromStdString(lesson.error().message),
             QStringLiteral("a/l.de.json:1:1: this is a translation; the lesson is a/l.json, which "
                            "is read together with it"));
  }

  void aTranslationReplacesTheTexts() {
    const auto lesson = engine::ReadLesson({"l.json", LessonJson({.step = kAskingStep})});
    QVERIFY2(lesson.has_value(), lesson ? "" : lesson.error().message.c_str());
    const auto german = engine::TranslateLesson(
        *lesson, {"l.de.json", TranslationJson(R"({"text": "Es sind {dp}.", "predict": {"ask": )"
                                               R"("Wie viele?", "choices": ["alle", ""]}})")});
    QVERIFY2(german.has_value(), german ? "" : german.error().message.c_str());
    QCOMPARE(german->title, std::string("Eine Lektion"));
    QCOMPARE(german->steps[0].text, std::string("Es sind {dp}."));
    QCOMPARE(german->steps[0].predict->ask, std::string("Wie viele?"));
    QCOMPARE(german->steps[0].predict->choices[0].text, std::string("alle"));
    QCOMPARE(german->steps[0].predict->answer, lesson->steps[0].predict->answer);
    QCOMPARE(german->file, std::string("l.json"));
  }

  void mistakesOfTranslationsNameTheirPlace_data() {
    QTest::addColumn<QString>("step");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const char* step, const char* problem) {
      QTest::newRow(name) << QString::fromUtf8(step) << QString::fromUtf8(problem);
    };
    row("missing text", R"({"predict": {"ask": "Wie?", "choices": ["alle", ""]}})",
        "l.de.json:5:5: a step needs 'text'");
    row("missing question", R"({"text": "Es sind {dp}."})",
        "l.de.json:5:5: a step needs 'predict'");
    row("superfluous task",
        R"({"text": "{dp}.", "predict": {"ask": "Wie?", "choices": ["a", ""]}, "do": {}})",
        "l.de.json:5:73: 'do' is superfluous: l.json, line 6 has none");
    row("superfluous text",
        R"({"text": "{dp}.", "predict": {"ask": "Wie?", "choices": ["a", ""], "explain": "x"}})",
        "l.de.json:5:72: 'explain' is superfluous: l.json, line 6 has none");
    row("unknown key", R"({"text": "{dp}.", "actions": []})",
        "l.de.json:5:23: unknown key 'action");
    row("too few choices", R"({"text": "{dp}.", "predict": {"ask": "Wie?", "choices": ["a"]}})",
        "l.de.json:5:50: 'choices' has 1 entries, l.json has 2");
    row("a choice too many",
        R"({"text": "{dp}.", "predict": {"ask": "Wie?", "choices": ["a", "b"]}})",
        "l.de.json:5:5: choice 2 must be \"\": l.json, line 6 has no text for it");
    row("a value that is missing",
        R"({"text": "Es.", "predict": {"ask": "Wie?", "choices": ["a", ""]}})",
        "l.de.json:5:6: 'text' lacks {dp}, which the text in l.json, line 6 has");
    row("a value too many",
        R"({"text": "{dp} {tp}.", "predict": {"ask": "Wie?", "choices": ["a", ""]}})",
        "l.de.json:5:6: 'text' has {tp}, which the text in l.json, line 6 lacks");
    row("a step too many", R"({"text": "{dp}."}, {"text": "Noch."})",
        "l.de.json:4:3: 'steps' has 2 entries, l.json has 1");
  }
  void mistakesOfTranslationsNameTheirPlace() {
    QFETCH(QString, step);
    QFETCH(QString, problem);
    const auto lesson = engine::ReadLesson({"l.json", LessonJson({.step = kAskingStep})});
    QVERIFY(lesson.has_value());
    const auto german =
        engine::TranslateLesson(*lesson, {"l.de.json", TranslationJson(step.toStdString())});
    QVERIFY(!german);
    const QString found = QString::fromStdString(german.error().message);
    QVERIFY2(found.startsWith(problem), qPrintable(found));
  }

  void aLessonCanBringItsTensors() {
    const std::string job = R"({"model": "two layers", "mesh": "tp=2",)"
                            R"( "tensors": {"layers": 2, "optimizer": "adamw", "tensors": [)"
                            R"({"name": "h.{layer}.w", "dtype": "f32", "shape": [64, 32]}]},)"
                            R"( "rules": {"rules": [{"match": "h.{layer}.w", "cut": "colwise"}]}})";
    const std::string step = R"({"text": "{tensor_bytes(h.0.w)}, {shard_bytes(h.0.w, n0g0)}."})";
    QCOMPARE(ProblemOf(LessonJson({.job = job, .step = step})), std::string());
    const auto lesson = engine::ReadLesson({"l.json", LessonJson({.job = job, .step = step})});
    const auto start = engine::StartState(lesson->setup);
    QVERIFY2(start.has_value(), start ? "" : start.error().message.c_str());
    // Each parameter and its two moments, half of it on each GPU.
    QCOMPARE(start->layout.collection().total_bytes(), std::int64_t{2 * 3 * 64 * 32 * 4});
    QCOMPARE(start->layout.BytesOf(0), start->layout.collection().total_bytes() / 2);
    const std::string half = R"({"model": "m", "mesh": "tp=2", "tensors": {}})";
    const std::string problem = ProblemOf(LessonJson({.job = half}));
    QVERIFY2(problem.starts_with("l.json:4:41: 'tensors' and 'rules' are given together"),
             problem.c_str());
  }

  void expressionsHaveUnits_data() {
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QString>("result");  // printed, or the begin of the message
    QTest::newRow("number") << "2 + 3 * 4"
                            << "14";
    QTest::newRow("brackets") << "(2 + 3) * 4"
                              << "20";
    QTest::newRow("bytes") << "2 * eight"
                           << "16 B";
    QTest::newRow("written bytes") << "1.5 KiB"
                                   << "1.5 KiB";
    QTest::newRow("quotient of bytes") << "eight / eight"
                                       << "1";
    QTest::newRow("bytes over number") << "eight / two"
                                       << "4 B";
    QTest::newRow("percent") << "12 %"
                             << "12 %";
    QTest::newRow("seconds") << "600 ms"
                             << "0.6 s";
    QTest::newRow("text") << "port"
                          << "n0 out";
    QTest::newRow("different units") << "eight + two"
                                     << "'eight + two' adds values of different";
    QTest::newRow("division by zero") << "eight / 0"
                                      << "'eight / 0' divides 8 B by 0";
    QTest::newRow("nothing") << ""
                             << "'' ends where a value is expected";
    QTest::newRow("half") << "2 +"
                          << "'2 +' ends where a value is expected";
    QTest::newRow("two values") << "2 two"
                                << "'2 two': 'two' where an operator is expected";
    QTest::newRow("unknown") << "ten"
                             << "no value 'ten'";
  }
  void expressionsHaveUnits() {
    QFETCH(QString, expression);
    QFETCH(QString, result);
    const auto value = engine::EvaluateLesson(expression.toStdString(), Numbers());
    const QString found =
        QString::fromStdString(value ? engine::LessonText(*value) : value.error().message);
    if (value) {
      QCOMPARE(found, result);
    } else {
      QVERIFY2(found.startsWith(result), qPrintable(found));
    }
  }

  void conditionsCompareEqualUnits() {
    const auto check = [](const char* text) {
      return engine::CheckLessonCondition(text, Numbers());
    };
    QVERIFY(check("eight <= 8 KiB")->holds);
    QVERIFY(!check("eight > 1 KiB")->holds);
    QVERIFY(check("port = 'n0 out'")->holds);
    QVERIFY(check("two")->holds);
    QCOMPARE(check("two >= 3")->actual.number, 2.0);
    QVERIFY(!check("eight = 8"));  // bytes and a number
    QVERIFY(!check("port < 'n1'"));
  }

  void textsAreFilled() {
    const auto fill = [](const char* text) {
      return engine::FillLessonText(text, Numbers(), engine::LessonText);
    };
    QCOMPARE(*fill("{eight} on {two} GPUs"), std::string("8 B on 2 GPUs"));
    QCOMPARE(*fill("nothing"), std::string("nothing"));
    QVERIFY(!fill("{eight"));
    QVERIFY(!fill("eight}"));
  }

  void everyNameHasAMeaning() {
    for (const engine::LessonName& name : engine::LessonNameTable()) {
      QVERIFY2(!name.meaning.empty(), name.name.data());
    }
    QCOMPARE(engine::LessonMeaning("moved_bytes"), std::string("bytes that move"));
    QCOMPARE(engine::LessonMeaning("sent_bytes(n0)"), std::string("bytes that leave, n0"));
    QCOMPARE(engine::LessonMeaning("2 * dp"), std::string("2 * dp"));
  }
};

TESSERA_TEST_APPLESS(LessonReaderTest)
#include "lesson_reader_test.moc"
