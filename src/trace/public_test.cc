// Every trace in data/traces holds what its papers and its README say, job for job.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include "trace/read.h"

namespace pondage::trace {
namespace {

namespace fs = std::filesystem;

const std::string kData = PONDAGE_SOURCE_DIR "/data/traces";

constexpr double kMsGpuHour = 3.6e6 * 1'000;  // milli-GPU x ms in one GPU-hour

Workload Get(Format format, const std::string& path, Take take = {}) {
  auto workload = Read(Disk(kData), format, path, take);
  if (!workload) {
    ADD_FAILURE() << path << ": " << workload.error().object << ": " << workload.error().message;
    return {};
  }
  return *std::move(workload);
}

std::int64_t GpuHours(const Workload& workload) {
  return std::llround(static_cast<double>(Work(workload.jobs)) / kMsGpuHour);
}

std::int64_t Peak(const Workload& workload) {
  return PeakDemand(workload.jobs).value / 1'000;
}

struct Row {
  std::string_view says;
  Format format;
  std::string path;
  Take take;
  std::size_t jobs;
  std::int64_t gpu_hours;
  std::int64_t peak;
};

Take PhillyTake(bool autumn) {
  Take take{.machines = "philly/machines.csv"};
  if (!autumn) return take;
  take.from = base::Instant{1'506'816'000'000};   // 2017-10-01
  take.until = base::Instant{1'512'086'400'000};  // 2017-12-01
  return take;
}

TEST(PublicTraces, HoldTheJobsAndGpuHoursTheyArePublishedWith) {
  const Row rows[] = {
      {"Philly", Format::kPhilly, "philly/jobs.csv", PhillyTake(false), 82'247, 978'078, 1'243},
      {"Philly, October and November", Format::kPhilly, "philly/jobs.csv", PhillyTake(true), 68'510,
       690'877, -1},
      {"Muri's first", Format::kMuri, "muri/trace1.csv", {}, 1'494, 383'327, 349},
      {"Muri's second", Format::kMuri, "muri/trace2.csv", {}, 5'755, 824'082, 837},
      {"Muri's testbed", Format::kMuri, "muri/cluster_trace.csv", {}, 400, 61'344, 264},
      {"Tiresias' sixty", Format::kTiresias, "tiresias/60_job.csv", {}, 60, 7, -1},
  };
  for (const Row& row : rows) {
    const Workload workload = Get(row.format, row.path, row.take);
    EXPECT_EQ(workload.jobs.size(), row.jobs) << row.says;
    EXPECT_EQ(GpuHours(workload), row.gpu_hours) << row.says;
    if (row.peak >= 0) {
      EXPECT_EQ(Peak(workload), row.peak) << row.says;
    }
  }
}

TEST(PublicTraces, SpansAndMeans) {
  const auto span_h = [](const Workload& workload) {
    base::Instant end;
    for (const Job& job : workload.jobs) end = std::max(end, job.submit);
    return static_cast<double>((end - workload.jobs.front().submit).value) / 3.6e6;
  };
  const auto mean_s = [](const Workload& workload) {
    double sum = 0;
    for (const Job& job : workload.jobs) sum += static_cast<double>(job.duration.value) / 1'000;
    return sum / static_cast<double>(workload.jobs.size());
  };
  const Workload philly = Get(Format::kPhilly, "philly/jobs.csv", PhillyTake(false));
  EXPECT_NEAR(span_h(philly), 2'613.5, 0.05);
  EXPECT_NEAR(mean_s(philly), 13'136, 0.5);
  EXPECT_NEAR(mean_s(Get(Format::kPhilly, "philly/jobs.csv", PhillyTake(true))), 11'480, 0.5);
  const Workload t1 = Get(Format::kMuri, "muri/trace1.csv");
  EXPECT_NEAR(span_h(t1), 3'005, 0.5);
  EXPECT_NEAR(mean_s(t1), 250'452, 0.5);
  const Workload t2 = Get(Format::kMuri, "muri/trace2.csv");
  EXPECT_NEAR(span_h(t2), 2'381, 0.5);
  EXPECT_NEAR(mean_s(t2), 99'986, 0.5);
  const Workload testbed = Get(Format::kMuri, "muri/cluster_trace.csv");
  EXPECT_NEAR(span_h(testbed), 651, 0.5);
  EXPECT_NEAR(mean_s(testbed), 57'153, 0.5);
  const Workload tiresias = Get(Format::kTiresias, "tiresias/60_job.csv");
  EXPECT_NEAR(span_h(tiresias), 0.49, 0.005);
  EXPECT_NEAR(mean_s(tiresias), 178.4, 0.05);
}

TEST(PublicTraces, PhillyHasItsMachinesAndItsLargestGang) {
  const Workload philly = Get(Format::kPhilly, "philly/jobs.csv", PhillyTake(false));
  EXPECT_EQ(GpusOf(philly.fleet), 2'490);
  std::map<int, int> by_size;
  for (const Machines& machines : philly.fleet) ++by_size[machines.gpus];
  EXPECT_EQ(by_size, (std::map<int, int>{{2, 321}, {8, 231}}));
  base::MilliGpu largest;
  for (const Job& job : philly.jobs) largest = std::max(largest, GpuOf(job));
  EXPECT_EQ(largest, base::WholeGpus(128));
  EXPECT_EQ(philly.queues.size(), 15u);
}

TEST(PublicTraces, PhillyOfElevenTenants) {
  Take take = PhillyTake(true);
  take.queues = {"6214e9", "7f04ca", "11cb48", "b436b2", "ee9e8c", "e13805",
                 "6c71a0", "2869ce", "ed69ec", "103959", "0e4a51"};
  EXPECT_EQ(Get(Format::kPhilly, "philly/jobs.csv", take).jobs.size(), 68'503u);
}

TEST(PublicTraces, OpenbHoldsItsPodsAndNodes) {
  const Workload openb =
      Get(Format::kOpenb, "openb/pods_default.csv", {.machines = "openb/nodes.csv"});
  EXPECT_EQ(openb.jobs.size(), 8'152u);
  EXPECT_EQ(openb.fleet.size(), 1'213u);
  EXPECT_EQ(GpusOf(openb.fleet), 6'212);
  std::map<std::string, int> by_qos, by_model;
  std::map<std::int64_t, int> whole;
  int with_gpu = 0, shares = 0;
  base::MilliGpu asked;
  for (const Job& job : openb.jobs) {
    ++by_qos[job.queue];
    const base::MilliGpu gpu = GpuOf(job);
    asked += gpu;
    with_gpu += gpu.value > 0;
    shares += gpu.value > 0 && gpu.value < 1'000;
    if (gpu.value > 1'000) ++whole[gpu.value / 1'000];
  }
  for (const Machines& machines : openb.fleet) ++by_model[machines.gpu_type];
  EXPECT_EQ(with_gpu, 7'064);
  EXPECT_EQ(shares, 3'078);
  EXPECT_EQ((asked.value + 50) / 100, 60'868);  // 6,086.8 GPUs
  EXPECT_EQ(whole, (std::map<std::int64_t, int>{{2, 16}, {4, 15}, {8, 44}}));
  EXPECT_EQ(by_qos, (std::map<std::string, int>{
                        {"LS", 4'647}, {"BE", 3'398}, {"Burstable", 100}, {"Guaranteed", 7}}));
  EXPECT_EQ(by_model.size(), 7u);
}

TEST(PublicTraces, EveryOpenbVariantReads) {
  for (const char* variant :
       {"cpu050", "cpu100", "cpu250", "gpushare40", "gpushare60", "gpushare100", "gpuspec10",
        "gpuspec20", "gpuspec33", "multigpu20", "multigpu30", "multigpu50"}) {
    const std::string path = std::string("openb/pods_") + variant + ".csv";
    const Workload workload = Get(Format::kOpenb, path, {.machines = "openb/nodes.csv"});
    EXPECT_GT(workload.jobs.size(), 5'000u) << variant;
    bool constrained = false;
    for (const Job& job : workload.jobs) constrained |= !job.gang.front().gpu_types.empty();
    EXPECT_EQ(constrained, std::string(variant).starts_with("gpuspec")) << variant;
  }
}

TEST(PublicTraces, GavelKnowsSpeedsByType) {
  const Take take{.speeds = "gavel/throughputs.json"};
  const Workload fair = Get(Format::kGavel, "gavel/max_min_fairness.csv", take);
  const Workload drain = Get(Format::kGavel, "gavel/minimize_makespan.csv", take);
  const auto gpus = [](const Workload& workload) {
    base::MilliGpu sum;
    for (const Job& job : workload.jobs) sum += GpuOf(job);
    return sum.value / 1'000;
  };
  EXPECT_EQ(fair.jobs.size(), 96u);
  EXPECT_EQ(drain.jobs.size(), 100u);
  EXPECT_EQ(gpus(fair), 169);
  EXPECT_EQ(gpus(drain), 175);
  EXPECT_EQ(GpusOf(fair.fleet), 48);
  EXPECT_NEAR(
      static_cast<double>((fair.jobs.back().submit - fair.jobs.front().submit).value) / 3.6e6, 12.9,
      0.05);
  EXPECT_EQ(drain.jobs.back().submit, drain.jobs.front().submit);
  double best_h = 0;  // the published bound on the mean: every job alone on its fastest type
  for (const Job& job : fair.jobs) best_h += static_cast<double>(job.duration.value) / 3.6e6;
  EXPECT_NEAR(best_h / 96, 2.19, 0.005);
  for (const Job& job : fair.jobs) EXPECT_EQ(job.speeds.size(), 3u) << job.name;
}

TEST(PublicTraces, PolluxJobsHaveALengthFromTheirModels) {
  for (const auto& [load, jobs] :
       std::map<std::string, std::size_t>{{"0.5", 80}, {"1.0", 160}, {"1.5", 240}, {"2.0", 320}}) {
    for (const char* number : {"1", "2", "3", "4"}) {
      const std::string path = "pollux/load-" + load + "/workload-" + number + ".csv";
      const Workload workload = Get(Format::kPollux, path, {.speeds = "pollux/models"});
      EXPECT_EQ(workload.jobs.size(), jobs) << path;
      EXPECT_EQ(GpusOf(workload.fleet), 64);
      for (const Job& job : workload.jobs) {
        EXPECT_GT(job.duration, base::SecondsLong(30)) << job.name;
        EXPECT_LT(job.duration, base::SecondsLong(100'000)) << job.name;
        EXPECT_LT(job.submit, base::Instant{8 * 3'600'000}) << job.name;
      }
    }
  }
}

// The artifact's own runs with rigid jobs (Tiresias, all four loads): the quickest of a kind waited
// for nothing but the 30 s after its start, so its JCT is its length plus that, plus less than one
// 60 s step before the start. Where it sat on other machines than packed ones it may have been
// quicker still (six or eight GPUs on more machines share less of each), and some kinds were
// preempted in every run.
TEST(PublicTraces, PolluxLengthsAreThoseOfThePublishedRuns) {
  enum Quickest { kPacked, kSpread, kPreempted };
  struct Published {
    std::string application;
    int gpus;
    std::int64_t jct_s;
    Quickest quickest;
  };
  const Published rows[] = {{"bert", 6, 2'818, kSpread},
                            {"bert", 8, 2'357, kSpread},
                            {"bert", 12, 1'624, kPacked},
                            {"bert", 16, 1'362, kPacked},
                            {"cifar10", 6, 941, kPacked},
                            {"cifar10", 8, 811, kSpread},
                            {"cifar10", 12, 654, kPacked},
                            {"cifar10", 16, 513, kPacked},
                            {"deepspeech2", 6, 4'175, kPacked},
                            {"deepspeech2", 8, 3'125, kSpread},
                            {"deepspeech2", 12, 2'517, kPacked},
                            {"imagenet", 24, 36'734, kPreempted},
                            {"imagenet", 32, 27'495, kPacked},
                            {"imagenet", 48, 50'575, kPreempted},
                            {"ncf", 1, 77, kPacked},
                            {"yolov3", 4, 14'135, kPacked}};
  std::map<std::pair<std::string, int>, std::int64_t> length_s;
  for (const char* load : {"0.5", "1.0", "1.5", "2.0"}) {
    for (const char* number : {"1", "2", "3", "4"}) {
      const std::string path = std::string("pollux/load-") + load + "/workload-" + number + ".csv";
      for (const Job& job : Get(Format::kPollux, path, {.speeds = "pollux/models"}).jobs) {
        const auto gpus = static_cast<int>(GpuOf(job).value / 1'000);
        length_s[{job.name.substr(0, job.name.find('-')), gpus}] = job.duration.value / 1'000;
      }
    }
  }
  EXPECT_EQ(length_s.size(), std::size(rows));
  for (const Published& row : rows) {
    const std::int64_t more_s = row.jct_s - 30 - length_s[{row.application, row.gpus}];
    SCOPED_TRACE(row.application + " on " + std::to_string(row.gpus));
    if (row.quickest == kPacked) {
      EXPECT_GE(more_s, 0);
      EXPECT_LT(more_s, 60);
    } else {
      EXPECT_EQ(more_s < 0, row.quickest == kSpread);
    }
  }
}

// SUMS: one line a file, `crc32 size path` of its plain bytes.
TEST(PublicTraces, EveryFileIsTheOneThatWasPublished) {
  std::map<std::string, std::string> stated, found;
  std::ifstream sums(kData + "/SUMS");
  std::string sum, size, path;
  while (sums >> sum >> size >> path) stated[path] = sum + " " + size;
  for (const auto& entry : fs::recursive_directory_iterator(kData)) {
    if (!entry.is_regular_file() || entry.path().parent_path() == kData) continue;
    std::string name = fs::relative(entry.path(), kData).string();
    const auto bytes = Disk(kData)(name);
    ASSERT_TRUE(bytes) << name;
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes->data()), bytes->size());
    std::ostringstream line;
    line << std::hex << std::setw(8) << std::setfill('0') << crc << std::dec << " "
         << bytes->size();
    found[name] = line.str();
  }
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(kData + "/SUMS");
    for (const auto& [name, line] : found) out << line << " " << name << "\n";
    return;
  }
  EXPECT_EQ(found, stated);
  EXPECT_FALSE(found.empty());
}

}  // namespace
}  // namespace pondage::trace
