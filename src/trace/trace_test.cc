// Readers on small texts: what they take, and how they say what is wrong.

#include <gtest/gtest.h>

#include "trace/amount.h"
#include "trace/flags.h"
#include "trace/pollux.h"
#include "trace/read.h"
#include "trace/yaml.h"

namespace pondage::trace {
namespace {

TEST(Amounts, AreExact) {
  EXPECT_EQ(Decimal("66.0", 1'000), 66'000);
  EXPECT_EQ(Decimal("0.0005", 1'000), 1);  // a half away from zero
  EXPECT_EQ(Decimal("0.00049", 1'000), 0);
  EXPECT_EQ(Decimal("-1.5e3", 1), -1'500);
  EXPECT_EQ(Decimal("12345678901234567890123", 1), std::nullopt);
  EXPECT_EQ(Decimal("1e-300", 1'000), 0);
  EXPECT_EQ(Decimal("", 1), std::nullopt);
  EXPECT_EQ(Decimal("1.2.3", 1), std::nullopt);
  EXPECT_EQ(Length("1h30m"), base::Millis{5'400'000});
  EXPECT_EQ(Length("90min"), base::Millis{5'400'000});
  EXPECT_EQ(Length("250ms"), base::Millis{250});
  EXPECT_EQ(Length("1.5d"), base::Millis{129'600'000});
  EXPECT_EQ(Length("90"), std::nullopt);
  EXPECT_EQ(Length("-1s"), std::nullopt);
  EXPECT_EQ(Size("64Gi"), base::Bytes{64LL << 30});
  EXPECT_EQ(Size("24GB"), base::Bytes{24'000'000'000});
  EXPECT_EQ(Size("1e30"), std::nullopt);
  EXPECT_EQ(Moment("1970-01-02"), base::Instant{86'400'000});
  EXPECT_EQ(Moment("2017-10-09 07:01:55"), base::Instant{1'507'532'515'000});
  EXPECT_EQ(Moment("2024-02-29T00:00:00"), base::Instant{1'709'164'800'000});
  EXPECT_EQ(Moment("2023-02-29"), std::nullopt);
  EXPECT_EQ(SlurmLength("1-02:03:04"), base::SecondsLong(93'784));
  EXPECT_EQ(SlurmLength("03:04.500"), base::SecondsLong(184));
  EXPECT_EQ(SlurmLength("5"), std::nullopt);
}

struct Bad {
  std::string_view says;
  base::Result<std::vector<Job>> (*read)(std::string_view);
  std::string text;
  std::string message;
};

TEST(Readers, SayLineAndColumn) {
  constexpr auto muri = +[](std::string_view text) { return Muri(text, 1); };
  constexpr auto gavel = +[](std::string_view text) {
    return Gavel(text,
                 R"json({"k80": {"('A', 1)": {"null": 0.5}, "('B', 1)": {"null": 0.0}}})json");
  };
  constexpr auto pollux = +[](std::string_view text) { return Pollux(text, {}); };
  const std::string philly = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  const std::string sacct = "JobID|Submit|Elapsed|AllocTRES\n";
  const Bad rows[] = {
      {"nothing", Philly, "", "line 1: there is no line of column names"},
      {"a column too few", Philly, "timestamp,duration\n", "line 1: there is no column num_gpus"},
      {"a cell too few", Philly, philly + "2017-10-09 07:01:55,66.0,1\n",
       "line 2: 3 cells under 5 column names"},
      {"no such day", Philly, philly + "\n2017-13-09 07:01:55,66.0,1,66.0,a\n",
       "line 3, column timestamp: \"2017-13-09 07:01:55\" is not a time such as 2017-10-09 "
       "07:01:55"},
      {"a negative length", Philly, philly + "2017-10-09 07:01:55,-1,1,66.0,a\n",
       "line 2, column duration: \"-1\" is not a length of time"},
      {"no GPUs", Philly, philly + "2017-10-09 07:01:55,66.0,0,66.0,a\n",
       "line 2, column num_gpus: \"0\" is not a whole number from 1 to 100000"},
      {"an open quote", Philly, philly + "\"2017,66.0,1,66.0,a\n",
       "line 2: a quote is never closed"},
      {"a share above one GPU", Openb,
       "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1001\n",
       "line 2, column gpu_milli: \"1001\" is not a whole number from 1 to 1000"},
      {"a word for a time", muri, "job_id,num_gpu,submit_time,iterations,duration\n0,1,soon,1,1\n",
       "line 2, column submit_time: \"soon\" is not a length of time"},
      {"a job that runs on no type", gavel,
       "job_id,job_type,scale_factor,total_steps,arrival_time\n0,B,1,10,0\n",
       "line 2, column job_type: \"B\" is not a job with a known speed on 1 GPUs"},
      {"an unknown application", pollux,
       "name,time,application,num_replicas,batch_size\na,0,gpt,1,1\n",
       "line 2, column application: \"gpt\" is not an application with tables"},
      {"a length Slurm does not print", Slurm, sacct + "7|2024-01-02T03:04:05|soon|gres/gpu=8\n",
       "line 2, column Elapsed: \"soon\" is not a length such as 1-02:03:04"},
      {"no resources", Slurm, "JobID|Submit|Elapsed\n7|2024-01-02T03:04:05|00:00:10\n",
       "line 1: there is no column AllocTRES or ReqTRES"},
  };
  for (const Bad& row : rows) {
    const auto jobs = row.read(row.text);
    ASSERT_FALSE(jobs) << row.says;
    EXPECT_EQ(jobs.error().message, row.message) << row.says;
  }
}

TEST(Slurm, TakesJobsWithGpusAndLeavesTheRest) {
  const auto jobs = Slurm(
      "JobID|User|Account|Submit|Elapsed|Timelimit|AllocTRES\n"
      "7|anna|vision|2024-01-02T03:04:05|01:00:00|2-00:00:00|"
      "billing=16,cpu=64,gres/gpu:a100=16,gres/gpu=16,mem=512G,node=2\n"
      "7.batch|||2024-01-02T03:04:05|01:00:00||cpu=32,mem=256G,node=1\n"
      "8|ben|nlp|2024-01-02T03:04:05|00:10:00|UNLIMITED|cpu=4,mem=8G,node=1\n"
      "9|ben|nlp|2024-01-02T04:00:00|00:10:00|UNLIMITED|cpu=4,gres/gpu:t4=1,node=1\n");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2u);
  const Job& first = jobs->front();
  EXPECT_EQ(first.name + first.user + first.queue, "7annavision");
  EXPECT_EQ(first.duration, base::SecondsLong(3'600));
  EXPECT_EQ(first.limit, base::SecondsLong(2 * 86'400));
  ASSERT_EQ(first.gang.size(), 1u);
  EXPECT_EQ(first.gang[0].count, 2);
  EXPECT_EQ(first.gang[0].gpu, base::WholeGpus(8));
  EXPECT_EQ(first.gang[0].cpu, base::MilliCpu{32'000});
  EXPECT_EQ(first.gang[0].memory, base::Bytes{256'000'000'000});
  EXPECT_EQ(first.gang[0].gpu_types, std::vector<std::string>{"a100"});
  EXPECT_EQ(GpuOf((*jobs)[1]), base::WholeGpus(1));
  EXPECT_EQ((*jobs)[1].limit, std::nullopt);
}

TEST(Workload, CutsAGangToMachines) {
  const Member twelve{.gpu = base::WholeGpus(20), .cpu = {20'000}, .memory = {20}};
  const auto cut = Cut({twelve}, 8);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].count, 2);
  EXPECT_EQ(cut[0].gpu, base::WholeGpus(8));
  EXPECT_EQ(cut[0].cpu, base::MilliCpu{8'000});
  EXPECT_EQ(cut[1].count, 1);
  EXPECT_EQ(cut[1].gpu, base::WholeGpus(4));
  EXPECT_EQ(cut[1].memory, base::Bytes{4});
  EXPECT_EQ(Cut({Member{.gpu = {500}}}, 8).front().gpu, base::MilliGpu{500});
}

TEST(Gzip, GivesPlainBytesOrSaysWhatIsWrong) {
  EXPECT_EQ(Unzip("plain"), "plain");
  const auto packed = Disk(PONDAGE_SOURCE_DIR "/data/traces/tiresias")("60_job.csv");
  ASSERT_TRUE(packed);
  EXPECT_TRUE(packed->starts_with("job_id,"));
  EXPECT_FALSE(Unzip("\x1f\x8b broken"));
  EXPECT_FALSE(Unzip("plain", 3));
  EXPECT_EQ(Disk("/nowhere")("x").error().kind, base::Kind::kNotFound);
}

TEST(Workload, HurriesArrivalsAndKeepsLengths) {
  std::vector<Job> jobs(2, Job{.duration = {7}});
  jobs[0].submit = {1'000};
  jobs[1].submit = {1'011};
  ASSERT_TRUE(Hurry(jobs, 2'000));
  EXPECT_EQ(jobs[0].submit, base::Instant{1'000});
  EXPECT_EQ(jobs[1].submit, base::Instant{1'005});
  EXPECT_EQ(jobs[1].duration, base::Millis{7});
  jobs[1].submit = {1LL << 61};
  EXPECT_FALSE(Hurry(jobs, 1));
}

// The shipped example is what traces of three Philly tenants on six servers each are.
TEST(Yaml, ReadsTheShippedExample) {
  const auto text = Disk(PONDAGE_SOURCE_DIR "/examples")("three-teams.yaml");
  ASSERT_TRUE(text);
  const auto teams = Yaml(*text, Disk(PONDAGE_SOURCE_DIR "/examples"));
  ASSERT_TRUE(teams) << teams.error().object << ": " << teams.error().message;
  EXPECT_EQ(GpusOf(teams->fleet), 144);
  EXPECT_EQ(teams->queues.size(), 3u);
  EXPECT_EQ(teams->jobs.size(), 8'936u);
}

// The first example of the guide is a workload; each language has the same one.
TEST(Yaml, ReadsTheGuidesExample) {
  for (const char* language : {"en", "zh"}) {
    const auto guide = Disk(std::string(PONDAGE_SOURCE_DIR "/docs/") + language)("workloads.md");
    ASSERT_TRUE(guide);
    const auto from = guide->find("```yaml\n") + 8;
    const auto lab = Yaml(guide->substr(from, guide->find("```", from) - from), Disk(""));
    ASSERT_TRUE(lab) << language << ": " << lab.error().object << ": " << lab.error().message;
    EXPECT_EQ(lab->jobs.size(), 202u);
    EXPECT_EQ(GpusOf(lab->fleet), 152);
  }
}

const Files kNoFiles = [](const std::string& path) -> base::Result<std::string> {
  return base::Fail(base::Kind::kNotFound, "", path, "there is no such file");
};

constexpr std::string_view kLab = R"(
fleet:
  - {servers: 2, gpus: 8, type: A100, cpus: 64, memory: 512Gi}
  - {name: small, gpus: 2, type: T4}
queues:
  - {name: vision, guarantee: 8, limit: 16}
  - {name: nlp, longest-run: 2d}
start: 2024-03-04
jobs:
  - {name: big, user: anna, queue: vision, workers: 2, gpus: 8, lasts: 6h, limit: 8h, started: 3m}
  - {name: sweep, user: ben, queue: nlp, gpus: 0.5, lasts: 30m, submitted: 1h, times: 3, every: 10m}
  - {name: ps, queue: nlp, members: [{role: chief}, {role: ps, gpus: 0, workers: 2}], lasts: 1h}
  - {queue: nlp, type: [A100, T4], steps: 1000, speeds: {A100: 10, T4: {together: 2.5, apart: 2}}}
faults:
  mtbf: 90d
  limits: 0.9..4
  arrivals: 10m
  outages: [{server: node-1, at: 1d, for: 2h}]
policy: {name: fifo, baselines: islands, also-faster: 2.1, restart: 60s, saving: 5s}
)";

TEST(Yaml, ReadsALab) {
  auto lab = Yaml(kLab, kNoFiles);
  ASSERT_TRUE(lab) << lab.error().object << lab.error().message;
  EXPECT_EQ(GpusOf(lab->fleet), 18);
  EXPECT_EQ(Nodes(lab->fleet).back().name, "small");
  EXPECT_EQ(lab->queues[0].limit, base::WholeGpus(16));
  ASSERT_EQ(lab->jobs.size(), 6u);
  EXPECT_EQ(lab->jobs[0].name, "big");
  EXPECT_EQ(lab->jobs[0].started, lab->jobs[0].submit + base::SecondsLong(180));
  EXPECT_EQ(lab->jobs[1].gang.back().role, base::Role::kPs);
  lab->jobs.erase(lab->jobs.begin() + 1);
  EXPECT_EQ(lab->jobs[0].submit, base::Instant{1'709'510'400'000});
  EXPECT_EQ(GpuOf(lab->jobs[0]), base::WholeGpus(16));
  EXPECT_EQ(lab->jobs[1].duration, base::SecondsLong(100));  // 1000 steps on an A100
  EXPECT_EQ(lab->jobs[1].speeds[1].apart_microsteps_s, 2'000'000);
  EXPECT_EQ(lab->jobs[4].name, "sweep-3");
  EXPECT_EQ(lab->jobs[4].submit - lab->jobs[0].submit, base::SecondsLong(4'800));
  EXPECT_EQ(lab->jobs[4].gang[0].gpu, base::MilliGpu{500});
  EXPECT_EQ(lab->faults.outages.front().machine, "node-1");
  EXPECT_EQ(lab->policy.baselines, std::vector<std::string>{"islands"});
  EXPECT_EQ(lab->policy.also_faster_milli, 2'100);
}

TEST(Yaml, ComesBackAsItWasWritten) {
  const auto lab = Yaml(kLab, kNoFiles);
  ASSERT_TRUE(lab);
  const auto again = Yaml(ToYaml(*lab), kNoFiles);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *lab);
}

TEST(Yaml, TakesTenantsOfATrace) {
  const Files files = [](const std::string&) -> base::Result<std::string> {
    return "timestamp,duration,num_gpus,cluster\n"
           "2017-10-01 00:00:10,60,16,b\n2017-10-01 00:00:00,60,1,a\n2017-10-01 00:00:05,60,1,c\n";
  };
  const auto two = Yaml(
      "fleet: [{servers: 2, gpus: 8}]\n"
      "jobs: [{trace: philly, file: x, tenants: {a: ann, b: bob}, faster: 2, limits: exact}]\n",
      files);
  ASSERT_TRUE(two) << two.error().message;
  ASSERT_EQ(two->jobs.size(), 2u);
  EXPECT_EQ(two->jobs[1].queue, "bob");
  EXPECT_EQ(two->jobs[1].submit - two->jobs[0].submit, base::SecondsLong(5));
  EXPECT_EQ(two->jobs[1].limit, base::SecondsLong(60));
  ASSERT_EQ(two->queues.size(), 2u);
  EXPECT_EQ(two->queues[1].name, "bob");
}

TEST(Yaml, SaysLineAndField) {
  struct Row {
    std::string_view says, text, message;
  };
  const Row rows[] = {
      {"no YAML", "a: [", "line 1: end of sequence flow not found"},
      {"no map", "- a", "line 1: a map with fleet and jobs is wanted"},
      {"a spelling mistake", "fleet:\n  - {servers: 2, gpu: 8}\n",
       "line 2: fleet[0]: unknown field \"gpu\"; known: cpus gpu-memory gpus labels memory name "
       "servers type"},
      {"a word for a number", "fleet:\n  - servers: 2\n    gpus: many\n",
       "line 3: fleet[0].gpus: \"many\" is not a whole number from 0 to 64"},
      {"no length", "jobs:\n  - {name: a}\n",
       "line 2: jobs[0].lasts: missing, a length of time such as 2h is wanted"},
      {"a bare number of seconds", "jobs: [{lasts: 90}]",
       "line 1: jobs[0].lasts: \"90\" is not a length of time such as 90s, 30m, 1h30m or 2d"},
      {"a share of two GPUs", "jobs: [{gpus: 1.5, lasts: 1s}]",
       "line 1: jobs[0].gpus: more than one GPU is a whole number of them"},
      {"no such trace", "jobs: [{trace: borg, file: x}]",
       "line 1: jobs[0].trace: known: openb philly muri tiresias pollux gavel slurm"},
      {"no such file", "jobs:\n  - trace: muri\n    file: x.csv\n",
       "line 3: jobs[0].file: x.csv: there is no such file"},
      {"twice", "fleet: []\nfleet: []\n", "line 2: \"fleet\" stands here twice"},
  };
  for (const Row& row : rows) {
    const auto read = Yaml(row.text, kNoFiles);
    ASSERT_FALSE(read) << row.says;
    EXPECT_EQ(read.error().message, row.message) << row.says;
  }
}

TEST(Yaml, RefusesWhatCannotRun) {
  const auto refused = [](std::string_view text) {
    const auto read = Yaml(text, kNoFiles);
    return read ? "read" : read.error().object + ": " + read.error().message;
  };
  EXPECT_EQ(refused("fleet: [{servers: 2, gpus: 8}]\njobs: [{name: a, gpus: 17, lasts: 1s}]"),
            "job a: it asks for 17 GPUs, all machines together have 16");
  EXPECT_EQ(refused("jobs: [{name: a, lasts: 1s}, {name: a, lasts: 1s}]"),
            "job a: there are two of this name");
  EXPECT_EQ(refused("queues: [{name: q}]\njobs: [{name: a, queue: p, lasts: 1s}]"),
            "job a: there is no queue \"p\"");
  EXPECT_EQ(refused("faults: {outages: [{server: x}]}"), "machine x: there is none");
}

TEST(Flags, SayWhatTheFileWouldSay) {
  Faults faults;
  ASSERT_TRUE(FaultsFlag("mtbf=30d,limits=0.9..4", faults));
  EXPECT_EQ(faults.mtbf, base::SecondsLong(30 * 86'400));
  EXPECT_EQ(faults.repair, base::SecondsLong(3'600));
  EXPECT_EQ(faults.limits, (LimitErrors{900, 4'000}));
  ASSERT_TRUE(FaultsFlag("repair=2h,limits=2", faults));
  EXPECT_EQ(faults.mtbf, base::SecondsLong(30 * 86'400));
  EXPECT_EQ(faults.limits, (LimitErrors{2'000, 2'000}));
  Policy policy;
  ASSERT_TRUE(CostsFlag("restart=60s,apart-slowdown-percent=5", policy));
  EXPECT_EQ(policy.restart, base::SecondsLong(60));
  EXPECT_EQ(policy.apart_slowdown_percent, 5);
  const auto why = [&](std::string_view text) {
    const auto read = FaultsFlag(text, faults);
    return read ? "" : read.error().object + ": " + read.error().message;
  };
  EXPECT_EQ(why(""), "");
  EXPECT_EQ(why("mtbf"), "--faults: \"mtbf\" is not like KEY=VALUE");
  EXPECT_EQ(why("mtbf=0s"), "--faults: mtbf: it is above 0");
  EXPECT_EQ(why("mtbf=1d,mtbf=2d"), "--faults: \"mtbf\" stands here twice");
  EXPECT_EQ(why("limits=4..1"),
            "--faults: limits: not like 0.9..4: so many times the true length, at most 1000");
  EXPECT_EQ(why("cost=1"),
            "--faults: unknown field \"cost\"; known: arrivals limits mtbf outages repair");
  EXPECT_EQ(why("mtbf={a"), "--faults: \"mtbf={a\" is not like KEY=VALUE");
}

TEST(Machines, AreWrittenShortOnTheCommandLine) {
  const auto fleet = MachinesFlag("18x8:V100,4x2");
  ASSERT_TRUE(fleet);
  EXPECT_EQ(GpusOf(*fleet), 152);
  EXPECT_EQ(fleet->front().gpu_type, "V100");
  for (const char* bad : {"", "18", "x8", "0x8", "18x65", "18x8:V100,,"}) {
    EXPECT_FALSE(MachinesFlag(bad)) << bad;
  }
}

}  // namespace
}  // namespace pondage::trace
