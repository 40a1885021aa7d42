#include "submission/run_job.h"

#include <gtest/gtest.h>

#include "client/manifest_file.h"
#include "terminal/document.h"
#include "terminal/text.h"

namespace pondage::submission {
namespace {

base::Result<RunWish> Wish(std::vector<std::string> words) {
  static std::optional<grammar::Invocation> line;
  auto parsed = grammar::ParseLine(words);
  if (!parsed) return std::unexpected(parsed.error());
  line = *std::move(parsed);
  terminal::Surroundings around;
  around.environment = {{"HF_HOME", "/data/hf"}};
  return WishOf(*line, around, "/u/li/mnist", "");
}

TEST(Run, TheScriptIsTheFileRightBehindPython) {
  EXPECT_EQ(ScriptOf({"python", "train.py", "--lr", "1"}), "train.py");
  EXPECT_EQ(ScriptOf({"/venv/bin/python3", "src/train"}), "src/train");
  EXPECT_EQ(ScriptOf({"python3.11", "/x/train.py"}), "/x/train.py");
  for (const std::vector<std::string>& none :
       std::vector<std::vector<std::string>>{{},
                                             {"python"},
                                             {"python", "-m", "pkg.train"},
                                             {"python", "-c", "print(1)"},
                                             {"python", "-"},
                                             {"bash", "train.sh"}}) {
    EXPECT_EQ(ScriptOf(none), "");
  }
}

TEST(Run, ASizeWithoutItsUnitIsRefused) {
  for (const char* flag : {"--memory", "--shm"}) {
    const auto wish = Wish({"run", flag, "16", "--", "python", "t.py"});
    ASSERT_FALSE(wish) << flag;
    EXPECT_NE(wish.error().message.find("16Gi"), std::string::npos);
    EXPECT_TRUE(Wish({"run", flag, "1Mi", "--", "python", "t.py"})) << flag;
  }
}

TEST(Run, TheTfJobOfACommand) {
  const auto wish = Wish({"run",
                          "--workers",
                          "2",
                          "--gpus",
                          "1",
                          "--memory",
                          "16Gi",
                          "--cpu",
                          "4",
                          "--queue",
                          "nlp",
                          "--time",
                          "2h",
                          "--env",
                          "A=1",
                          "--env",
                          "HF_HOME",
                          "--mount",
                          "data:/data:ro",
                          "--checkpoint-dir",
                          "ckpt",
                          "--image",
                          "tf:2",
                          "--gpu-type",
                          "A100",
                          "--",
                          "python",
                          "train.py",
                          "--x",
                          "a b",
                          "$(HOME)"});
  ASSERT_TRUE(wish) << wish.error().message;
  const json::object job =
      MakeTfJob(*wish, {"li", "li", "/data/copies/train-1-x", "/data/copies/train-1-x"});
  EXPECT_EQ(terminal::ToYaml(job), R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: train
  namespace: li
  annotations:
    pondage.dev/requeue-exit-code: "42"
    pondage.dev/user: li
    pondage.dev/workdir: /data/copies/train-1-x
    pondage.dev/gpu-type: A100
    pondage.dev/checkpoint-dir: /data/copies/train-1-x/ckpt
spec:
  runPolicy:
    backoffLimit: 4
    activeDeadlineSeconds: 7200
    schedulingPolicy:
      queue: nlp
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          volumes:
          - name: mount-0
            hostPath:
              path: /u/li/mnist/data
          containers:
          - name: tensorflow
            image: tf:2
            command:
            - python
            - train.py
            - "--x"
            - a b
            - $$(HOME)
            workingDir: /data/copies/train-1-x
            env:
            - name: A
              value: "1"
            - name: HF_HOME
              value: /data/hf
            resources:
              limits:
                nvidia.com/gpu: 1
                cpu: "4"
                memory: "16Gi"
            volumeMounts:
            - name: mount-0
              mountPath: /data
              readOnly: true
          terminationGracePeriodSeconds: 120
)");
}

TEST(Run, RolesAndWhoGetsGpus) {
  const auto wish = Wish({"run", "--chief", "--ps", "2", "--workers", "3", "--evaluator", "--gpus",
                          "1", "--legacy-keras", "--shm", "1Gi", "--", "python", "t.py"});
  ASSERT_TRUE(wish);
  const json::object job = MakeTfJob(*wish, {"ns", "", "/w", ""});
  const json::object& roles = job.at("spec").at("tfReplicaSpecs").as_object();
  EXPECT_EQ(roles.size(), 4u);
  EXPECT_EQ(roles.at("PS").at("replicas"), 2);
  EXPECT_EQ(view::GpusOf(roles.at("Chief")), 1);
  EXPECT_EQ(view::GpusOf(roles.at("Worker")), 1);
  EXPECT_EQ(view::GpusOf(roles.at("PS")), 0) << "parameter servers live in memory";
  EXPECT_EQ(view::GpusOf(roles.at("Evaluator")), 0);
  const std::string text = json::serialize(job);
  EXPECT_NE(text.find(R"({"name":"TF_USE_LEGACY_KERAS","value":"1"})"), std::string::npos);
  EXPECT_NE(text.find(R"("mountPath":"/dev/shm")"), std::string::npos);
  EXPECT_EQ(text.find("pondage.dev/workdir"), std::string::npos) << "no copy was made";
}

TEST(Run, WhatIsRefused) {
  const std::vector<std::string> rows[] = {
      {"run", "--gpus", "-1", "--", "a"},
      {"run", "--gpus", "many", "--", "a"},
      {"run", "--workers", "0", "--", "a"},
      {"run", "--mount", "x", "--", "a"},
      {"run", "--mount", "x:rel", "--", "a"},
      {"run", "--mount", "x:/y:rx", "--", "a"},
      {"run", "--env", "=1", "--", "a"},
      {"run", "--env", "TF_CONFIG={}", "--", "a"},
      {"run", "--cpu", "0", "--", "a"},
      {"run", "--cpu", "two", "--", "a"},
      {"run", "--memory", "much", "--", "a"},
      {"run", "--time", "later", "--", "a"},
      {"run", "--name", "Upper", "--", "a"},
      {"run", "--name", "a-", "--", "a"},
      {"run", "--name", std::string(60, 'a'), "--", "a"},
  };
  for (const auto& words : rows) {
    const auto wish = Wish(words);
    ASSERT_FALSE(wish) << words[1] << " " << words[2];
    EXPECT_EQ(wish.error().id, "PND-C002");
  }
}

TEST(Run, NamesComeFromTheScript) {
  EXPECT_EQ(StemOf({"python", "/x/Train_1.py", "--lr", "1"}), "train-1");
  EXPECT_EQ(StemOf({"python", "-m", "pack.fit"}), "fit");
  EXPECT_EQ(StemOf({"bash", "go.sh"}), "go");
  EXPECT_EQ(StemOf({"nvidia-smi"}), "nvidia-smi");
  EXPECT_EQ(StemOf({"7z"}), "z");
  EXPECT_EQ(StemOf({"./训练.py"}), "job")
      << "no letter that a name may have: the program's, else job";
  EXPECT_EQ(StemOf({std::string(80, 'a') + ".py"}).size(), 40u);
  EXPECT_EQ(StemOf({"123"}), "job");
}

json::value Named(const char* name) {
  return json::object{{"metadata", {{"name", name}}}};
}

TEST(Run, TheNextNumberIsTaken) {
  EXPECT_EQ(client::NextName("train", {}), "train-1");
  EXPECT_EQ(client::NextName("train", {Named("train-7"), Named("train-2"), Named("train-eval-9"),
                                       Named("train")}),
            "train-8");
  EXPECT_EQ(client::NumberlessStem("a-b-12"), "a-b");
  EXPECT_EQ(client::NumberlessStem("a-b"), "a-b");
  EXPECT_EQ(client::NumberOf("a-12"), 12);
  EXPECT_EQ(client::NumberOf("a-99999999999"), 0) << "no number of ours";
}

TEST(Run, TheSameKeyIsTheSameJob) {
  const auto one = Wish({"run", "--idempotency-key", "nightly", "--", "python", "train.py"});
  const auto two = Wish({"run", "--idempotency-key", "nightly", "--", "python", "train.py"});
  EXPECT_EQ(one->name, two->name);
  const auto digest = [](const RunWish& wish, const RunPlace& place) {
    return client::Text(MakeTfJob(wish, place), {"metadata", "annotations", kRequestDigest});
  };
  const auto asked = [&](const std::vector<std::string>& flags, const RunPlace& place) {
    std::vector<std::string> words = {"run", "--idempotency-key", "nightly"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const char* word : {"--", "python", "train.py"}) words.emplace_back(word);
    return digest(*Wish(words), place);
  };
  const RunPlace copied{"n", "u", "/w/1", "/w/1"};
  const std::string same = digest(*one, copied);
  EXPECT_EQ(digest(*two, {"n", "v", "/w/2", "/w/2"}), same)
      << "where the copy lies and who asks says nothing";
  EXPECT_EQ(asked({"--checkpoint-dir", "c"}, copied),
            asked({"--checkpoint-dir", "c"}, {"n", "u", "/w/2", "/w/2"}));
  EXPECT_EQ(asked({}, copied), same);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--gpus", "1"},
                                             {"--gpu-type", "A100"},
                                             {"--checkpoint-dir", "c"},
                                             {"--queue", "q"},
                                             {"--env", "A=1"},
                                             {"--mount", "/a:/b"},
                                             {"--restarts", "7"},
                                             {"--time", "1h"},
                                             {"--grace", "7s"}}) {
    EXPECT_NE(asked(flags, copied), same) << flags[0];
  }
  EXPECT_NE(asked({}, {"n", "u", "/here", ""}), same) << "in a copy or in the directory itself";
  EXPECT_NE(asked({}, {"n", "u", "/here", ""}), asked({}, {"n", "u", "/there", ""}));
}

TEST(Run, ThePlanInBothLanguages) {
  const auto wish = Wish({"run", "--workers", "2", "--gpus", "2", "--time", "2h", "--image", "tf:2",
                          "--", "python", "train.py"});
  view::JobView planned = view::ViewJob(MakeTfJob(*wish, {"li", "li", "/w", "/w"}));
  terminal::Screen screen;
  const PlanFacts facts{"tf:2", "12 files, 3.4 MiB -> /w", "(guarantee 4, used 2, limit 8)"};
  EXPECT_EQ(PlanText(*wish, planned, facts, screen, {}),
            "PLAN  job train  queue default (guarantee 4, used 2, limit 8)\n"
            "  program  tf:2\n"
            "  worker   2 x (2 GPU)\n"
            "  start    now\n"
            "  copy     12 files, 3.4 MiB -> /w\n"
            "  limit    2 h\n"
            "  stop     SIGTERM, 2 min to save, then SIGKILL\n"
            "  restart  after a failure, up to 3 times\n");
  planned.reason =
      view::WaitReason{"PND-Q004", "busy", "needs 4 GPUs, 2 are free", {}, 4, 2, std::nullopt};
  screen.language = terminal::Language::kChinese;
  const std::string chinese = PlanText(*wish, planned, facts, screen, {});
  EXPECT_NE(chinese.find("不是现在; Q004"), std::string::npos) << chinese;
}

}  // namespace
}  // namespace pondage::submission
