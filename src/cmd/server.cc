#include "cmd/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <thread>

#include "agent/agent.h"
#include "agent/pod_launcher.h"
#include "agent/sweep.h"
#include "api/pki.h"
#include "api/private_file.h"
#include "api/server.h"
#include "cmd/admission.h"
#include "cmd/first_objects.h"
#include "cmd/own_views.h"
#include "cmd/premises.h"
#include "loop/loop.h"
#include "manifest/data.h"
#include "manifest/needs.h"
#include "metrics/names.h"
#include "port/forward_clock.h"
#include "run/cgroups.h"
#include "run/log_files.h"
#include "run/nvml_probe.h"
#include "run/shim_runner.h"
#include "store/sqlite_store.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

// A file that holds this already is left alone: a server starts again on a full disk.
base::Result<void> Keep(const std::string& path, const std::string& bytes) {
  const auto kept = api::ReadFile(path);
  if (kept && *kept == bytes) return {};
  return api::WritePrivateFile(path, bytes);
}

// Connections may take half of the files this process may open: the store and the starting of
// programs need files too, and must not fail because many people look on.
std::size_t MostConnections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 500;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_NOFILE, &files);
  return std::min<rlim_t>(10'000, files.rlim_cur / 2);
}

// ConfigMaps and Secrets for starts that are being prepared. One that hangs may come back when the
// server has ended, which closes its store all the same.
class DataReader {
 public:
  explicit DataReader(const port::Store& store) : store_(&store) {}

  std::optional<std::map<std::string, std::string>> Read(const port::Key& key) const {
    const std::lock_guard lock(mutex_);
    if (store_ == nullptr) return std::nullopt;
    const auto object = store_->Get(key);
    if (!object) return std::nullopt;
    if (key.kind == manifest::StorageOf(job::Need::Kind::kClaim)) return {{{"uid", object->uid}}};
    return manifest::DataOfObject(*object->body);
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    store_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  const port::Store* store_;
};

std::int64_t MicrosOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

class Server::Parts {
 public:
  explicit Parts(const ServeSettings& settings) : settings_(settings) {}
  ~Parts();

  base::Result<void> Start(const Step& step);

  const std::string& url() const { return premises_->url; }
  std::string KubeconfigPath() const { return settings_.data_dir + "/kubeconfig"; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  base::Result<void> OpenDirectory();
  base::Result<void> OpenStore();
  void FindGpus();
  base::Result<void> StartLoop();
  base::Result<void> StartApi();
  base::Result<void> TellAddress();
  std::string PoolsNode() const;
  base::Result<api::KeyPair> ServerCertificate();
  void RenewCertificate();
  base::Result<void> KeepAdmin();
  void RunLoop();
  void RunHousekeeping();
  void GiveBackMemory();
  void SweepDirectory();

  const ServeSettings settings_;
  std::optional<Premises> premises_;
  std::vector<std::string> warnings_;
  std::string admin_;  // token
  port::ForwardClock clock_{[] { return MicrosOf(CLOCK_REALTIME); },
                            [] { return MicrosOf(CLOCK_BOOTTIME); }};
  metrics::Page page_;
  std::unique_ptr<store::SqliteStore> store_;
  std::shared_ptr<DataReader> data_;
  std::unique_ptr<run::ShimRunner> runner_;
  std::shared_ptr<agent::PodLauncher> launcher_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<port::GpuProbe> probe_;
  std::unique_ptr<agent::Agent> agent_;
  std::unique_ptr<loop::Loop> loop_;
  std::unique_ptr<run::LogFiles> logs_;
  std::unique_ptr<api::TokenStore> tokens_;
  std::unique_ptr<OwnViews> views_;
  std::unique_ptr<api::Server> api_;
  api::KeyPair authority_;
  std::string certificate_pem_;  // that is served
  base::Instant certificate_due_;
  base::Instant sweep_due_;
  std::size_t given_back_ = 0;  // of so many connections
  std::string not_limited_;     // why limits of jobs are not enforced; empty: they are
  std::atomic<bool> loop_ends_{false};
  std::thread loop_thread_;
  std::mutex housekeeping_mutex_;
  bool stopping_ = false;
  std::condition_variable housekeeping_wake_;
  std::thread housekeeping_;
};

Server::Parts::~Parts() {
  {
    const std::lock_guard lock(housekeeping_mutex_);
    stopping_ = true;
  }
  housekeeping_wake_.notify_all();
  if (housekeeping_.joinable()) housekeeping_.join();
  if (views_) views_->End();  // before the API, which waits for its answers
  if (api_) api_->Stop();     // before the loop, which must answer what it was handed
  agent_.reset();
  loop_ends_ = true;
  if (loop_) loop_->Wake();
  if (loop_thread_.joinable()) loop_thread_.join();
  runner_.reset();  // its readings go to the loop
  if (data_) data_->Close();
}

base::Result<void> Server::Parts::Start(const Step& step) {
  constexpr int kSteps = 5;
  TRY(premises_, FindPremises(settings_));
  step(1, kSteps, "data directory " + settings_.data_dir);
  TRY_DO(OpenDirectory());
  if (!IsLoopback(settings_.address)) {
    warnings_.push_back(fmt::format(
        "it listens beyond this machine, on {}; kubeconfigs that `pondage token create --write` "
        "makes name {} (to name another: --advertise HOST[:PORT])",
        settings_.address, premises_->url_for_others));
  }
  step(2, kSteps, "store");
  TRY_DO(OpenStore());
  step(3, kSteps, "GPUs");
  FindGpus();
  step(4, kSteps, "jobs that are known");
  TRY_DO(StartLoop());
  step(5, kSteps, "API");
  return StartApi();
}

base::Result<void> Server::Parts::OpenDirectory() {
  std::error_code error;
  fs::create_directories(settings_.data_dir, error);
  if (error) {
    return base::Fail(base::Kind::kUnavailable, "PND-S004", settings_.data_dir,
                      "cannot make the data directory: " + error.message());
  }
  // Jobs of another account must reach their own directories below; the list of them is nobody's.
  const bool shared = !settings_.run_as.empty() || geteuid() == 0;  // or runAsUser names one
  fs::permissions(settings_.data_dir, shared ? fs::perms(0711) : fs::perms(0700), error);
  if (shared && geteuid() == 0) {
    // Each account of the machine makes its own copies there, and touches no other's.
    const std::string copies = settings_.data_dir + "/work";
    fs::create_directory(copies, error);
    fs::permissions(copies, fs::perms(01733), error);
  }
  return {};
}

// Without its store a server would take every program that runs for a stranger's and end it.
base::Result<void> RefuseLostStore(const std::string& data_dir) {
  const fs::path store = data_dir + "/pondage.sqlite";
  std::error_code error;
  if (fs::exists(store, error) && fs::file_size(store, error) > 0) return {};
  const bool used = fs::exists(data_dir + "/tokens.json", error) ||
                    (fs::is_directory(data_dir + "/replicas", error) &&
                     !fs::is_empty(data_dir + "/replicas", error));
  if (!used) return {};
  return base::Fail(base::Kind::kCorrupt, "PND-S003", store.string(),
                    "is missing or empty, but this data directory was in use: restore it from a "
                    "backup, or name a new directory with --data");
}

base::Result<void> Server::Parts::OpenStore() {
  TRY_DO(RefuseLostStore(settings_.data_dir));
  TRY(store_, store::SqliteStore::Open({.path = settings_.data_dir + "/pondage.sqlite"}));
  return StoreFirstObjects(*store_, clock_.Now());
}

void Server::Parts::FindGpus() {
  if (premises_->declared_gpus) {
    probe_ = std::move(premises_->declared_gpus);
    warnings_.push_back("the GPUs are virtual: declared by --virtual-gpus, no device behind them");
    return;
  }
  auto nvml = run::NvmlProbe::Load();
  if (nvml) {
    probe_ = std::move(*nvml);
  } else {
    warnings_.push_back("no NVIDIA GPU is found (" + nvml.error().message +
                        "); jobs that ask for GPUs will wait. To try without: --virtual-gpus 2");
  }
}

base::Result<void> Server::Parts::StartLoop() {
  runner_ = std::make_unique<run::ShimRunner>(
      run::RunnerSettings{.data_dir = settings_.data_dir, .shim = settings_.shim},
      run::FindCgroups(run::ThisMachine()), clock_);
  not_limited_ = runner_->Limits().why;
  if (!not_limited_.empty()) {
    warnings_.push_back("not every limit of a job is enforced: " + not_limited_);
  }
  agent::LaunchSettings launch{.data_dir = settings_.data_dir,
                               .mounts = premises_->mounts,
                               .run_as = premises_->run_as,
                               .python_dir = settings_.python_dir};
  if (!launch.run_as && geteuid() == 0) {
    warnings_.push_back(
        "jobs run as root: whoever may submit a job is root here. To name an "
        "account for them: --run-as USER");
  }
  data_ = std::make_shared<DataReader>(*store_);
  launcher_ = std::make_shared<agent::PodLauncher>(
      std::move(launch),
      [data = data_](const std::string& kind, const std::string& space, const std::string& name) {
        return data->Read({kind, space, name});
      });
  admission_ = std::make_unique<Admission>(launcher_);
  for (const std::string& left : launcher_->claims().TakeOver(*store_)) warnings_.push_back(left);
  loop::Settings loop;
  loop.pool.job.restart_delay = settings_.restart_delay;
  loop.keep_finished = settings_.keep_finished;
  loop.keep_finished_count = settings_.keep_finished_count;
  loop.node_name = PoolsNode();
  loop_ = std::make_unique<loop::Loop>(loop, *store_, *runner_, clock_, launcher_);
  loop_->CountOn(page_);
  page_.Set(metrics::kBuild, 1, {{"version", PONDAGE_VERSION}});
  runner_->Listen([this](port::Reading reading) { loop_->Tell(std::move(reading)); });
  TRY_DO(loop_->Load());
  agent_ = std::make_unique<agent::Agent>(
      agent::AgentSettings{.node_name = loop.node_name, .data_dir = settings_.data_dir},
      std::move(probe_), [this] { return runner_->RunningNow(); }, clock_,
      [this](fleet::Node node, manifest::MachineFacts machine) {
        loop_->See(std::move(node), std::move(machine));
      });
  agent_->Look();
  agent_->Begin();
  loop_thread_ = std::thread([this] { RunLoop(); });
  return {};
}

// What the first start called this machine: bindings and GPUs stand under that name, and a machine
// that is renamed must not count twice.
std::string Server::Parts::PoolsNode() const {
  const auto known = store_->List({.kind = "nodes", .limit = 1});
  return known && !known->objects.empty() ? known->objects.front().key.name : NodeName();
}

void Server::Parts::RunLoop() {
  base::Instant next = clock_.Now();
  while (!loop_ends_) {
    loop_->AwaitInput(next);
    next = loop_->Turn();
  }
  loop_->Turn();  // whoever wrote in the last moment is answered
}

void Server::Parts::RunHousekeeping() {
  std::unique_lock lock(housekeeping_mutex_);
  while (!stopping_) {
    if (housekeeping_wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) {
      return;
    }
    if (const auto maintained = store_->Maintain(clock_.Now()); !maintained) {
      spdlog::warn("store: {}", maintained.error().message);
    }
    if (certificate_due_ <= clock_.Now()) RenewCertificate();
    GiveBackMemory();
    if (sweep_due_ <= clock_.Now()) SweepDirectory();
  }
}

// A connection costs some 90 KiB, nearly all of it TLS buffers. What many of them leave behind lies
// in pieces between what lives on, and only this hands it to the machine again.
void Server::Parts::GiveBackMemory() {
  constexpr std::size_t kMany = 50;
  const std::size_t ended = api_->ended();
  if (ended - given_back_ < kMany) return;
  given_back_ = ended;
  malloc_trim(0);
}

// Orders to erase that were lost with a server before this one.
void Server::Parts::SweepDirectory() {
  constexpr base::Millis kOften{24 * 3'600'000};
  sweep_due_ = clock_.Now() + kOften;
  agent::Sweep sweep(settings_.data_dir, *store_,
                     [this](const std::string& uid) { runner_->Erase(uid); });
  if (const auto swept = sweep.Pass(); !swept) {
    spdlog::warn("the data directory is not searched for what nobody owns: {} {}",
                 swept.error().object, swept.error().message);
  }
}

// A server may run longer than its certificate is good for; connections that stand are not touched.
void Server::Parts::RenewCertificate() {
  constexpr base::Millis kOften{5'000};
  constexpr base::Millis kAfterTrouble{3'600'000};
  certificate_due_ = clock_.Now() + kOften;
  const auto certificate = ServerCertificate();
  if (certificate && certificate->certificate_pem == certificate_pem_) return;
  const auto set = certificate
                       ? api_->SetCertificate(certificate->certificate_pem, certificate->key_pem)
                       : base::Result<void>(std::unexpected(certificate.error()));
  if (set) {
    certificate_pem_ = certificate->certificate_pem;
    spdlog::warn("the certificate of the server was renewed");
    return;
  }
  spdlog::error("the certificate cannot be renewed: {}", set.error().message);
  certificate_due_ = clock_.Now() + kAfterTrouble;
}

base::Result<void> Server::Parts::StartApi() {
  logs_ = std::make_unique<run::LogFiles>(settings_.data_dir);
  views_ = std::make_unique<OwnViews>(
      settings_.data_dir, *store_, [this] { return loop_->Unreadable(); }, not_limited_,
      premises_->run_as, premises_->url_for_others);
  TRY(tokens_, api::TokenStore::Open(settings_.data_dir + "/tokens.json"));
  TRY(const api::KeyPair certificate, ServerCertificate());
  api_ = std::make_unique<api::Server>(api::ServerOptions{
      .listener = std::move(premises_->listener),
      .certificate_pem = certificate.certificate_pem,
      .key_pem = certificate.key_pem,
      .max_connections = MostConnections(),
      .store = *store_,
      .writer = *loop_,
      .logs = *logs_,
      .telemetry = *agent_,
      .tokens = *tokens_,
      .now = [this] { return clock_.Now(); },
      .admit_new = [this] { return store_->RoomForNew(); },
      .admit_tfjob = [this](const boost::json::object& tfjob) { return admission_->Admit(tfjob); },
      .metrics =
          [this] {
            page_.Set(metrics::kWatches, static_cast<double>(api_->watchers()));
            page_.Set(metrics::kStoreRevision, static_cast<double>(store_->Newest()));
            if (const auto free = store_->FreeBytes()) {
              page_.Set(metrics::kStoreFreeBytes, static_cast<double>(free->value));
            }
            return page_.Text();
          },
      .own_view = [this](const api::Request& request,
                         const api::Reply& reply) { return views_->Answer(request, reply); },
      .exec = &runner_->Execs()});
  TRY_DO(KeepAdmin());
  certificate_pem_ = certificate.certificate_pem;
  TRY_DO(TellAddress());
  TRY_DO(api_->Start());  // now it says that it is ready
  housekeeping_ = std::thread([this] { RunHousekeeping(); });
  return {};
}

// On a full disk a server must start again, for deleting makes room: what an earlier one wrote is
// then left as it is.
base::Result<void> Server::Parts::TellAddress() {
  const std::string kubeconfig = api::Kubeconfig(url(), authority_.certificate_pem, admin_);
  auto kept = Keep(KubeconfigPath(), kubeconfig);
  if (kept) kept = Keep(AddressFile(settings_.data_dir), url() + "\n");
  std::error_code error;
  if (kept || !fs::exists(KubeconfigPath(), error)) return kept;
  warnings_.push_back(fmt::format("{} {}; clients find this server at {}", kept.error().object,
                                  kept.error().message, url()));
  return {};
}

base::Result<api::KeyPair> Server::Parts::ServerCertificate() {
  const std::string pki = settings_.data_dir + "/pki";
  std::error_code error;
  fs::create_directories(pki, error);
  const auto keep = [&pki](const std::string& name,
                           const api::KeyPair& pair) -> base::Result<void> {
    TRY_DO(api::WritePrivateFile(pki + "/" + name + ".key", pair.key_pem));
    return api::WritePrivateFile(pki + "/" + name + ".crt", pair.certificate_pem);
  };
  const auto read = [&pki](const std::string& name) -> std::optional<api::KeyPair> {
    auto certificate = api::ReadFile(pki + "/" + name + ".crt");
    auto key = api::ReadFile(pki + "/" + name + ".key");
    if (!certificate || !key) return std::nullopt;
    return api::KeyPair{std::move(*certificate), std::move(*key)};
  };
  if (auto known = read("ca")) {
    authority_ = std::move(*known);
  } else {
    TRY(authority_, api::MakeAuthority(clock_.Now()));
    TRY_DO(keep("ca", authority_));
  }
  const std::vector<std::string> names = NamesOf(*premises_, settings_);
  auto server = read("server");
  if (server) {
    const auto stale = api::NeedsRenewal(*server, authority_, names, clock_.Now());
    if (stale && !*stale) return *server;
  }
  TRY(const api::KeyPair made, api::MakeServerCertificate(authority_, names, clock_.Now()));
  TRY_DO(keep("server", made));
  return made;
}

// The admin token is made once and stands only here; its hash stands in the store of tokens.
base::Result<void> Server::Parts::KeepAdmin() {
  std::string secret;
  if (const auto kept = api::ReadFile(settings_.data_dir + "/admin.token")) {
    secret = kept->substr(0, kept->find('\n'));
  }
  if (secret.empty() || !tokens_->Find(secret)) {
    const auto revoked = tokens_->Revoke("admin");  // lost with its file
    if (!revoked && revoked.error().kind != base::Kind::kNotFound)
      return std::unexpected(revoked.error());
    TRY(secret, tokens_->Create({.name = "admin", .admin = true}));
    TRY_DO(api::WritePrivateFile(settings_.data_dir + "/admin.token", secret + "\n"));
  }
  admin_ = secret;
  return {};
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::Start(const ServeSettings& settings,
                                                    const Step& step) {
  auto parts = std::make_unique<Parts>(settings);
  try {
    TRY_DO(parts->Start(step));
  } catch (const std::system_error& none) {  // of a thread, in whichever part
    return base::Fail(base::Kind::kUnavailable, "PND-A033", "",
                      std::string("this machine gives the server no thread (") + none.what() +
                          "): look at ulimit -u, ulimit -s and TasksMax=");
  }
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

std::string Server::url() const {
  return parts_->url();
}
std::string Server::kubeconfig() const {
  return parts_->KubeconfigPath();
}
std::vector<std::string> Server::warnings() const {
  return parts_->warnings();
}

}  // namespace pondage::cmd
