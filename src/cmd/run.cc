#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "client/create.h"
#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "phrase/phrase.h"
#include "session/follow.h"
#include "shim/files.h"
#include "submission/python.h"
#include "submission/run_job.h"
#include "submission/work_copy.h"
#include "terminal/ask.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

// One `pondage run`, from its flags to the job's end.
class Run {
 public:
  explicit Run(Context& context)
      : context_(context), line_(context.line()), screen_(context.screen()) {}
  base::Result<int> Go();

 private:
  base::Result<void> Prepare();
  base::Result<void> FindServerFacts();
  base::Result<void> FindPython();
  std::string WhyNoScript() const;
  base::Result<void> CheckScript() const;
  base::Result<void> CheckMounts() const;
  base::Result<void> FindCopy();
  base::Result<std::optional<view::JobView>> Earlier();
  base::Result<void> CheckQueue();
  base::Result<void> CheckPriority();
  base::Result<view::JobView> Plan();
  base::Result<bool> GoAhead(const view::JobView& planned);
  base::Result<void> Send();
  base::Result<std::optional<int>> PlanAndSend();
  void Name(const std::string& name);
  std::string QueueFacts(const std::string& queue);

  Context& context_;
  const grammar::Invocation& line_;
  const terminal::Screen& screen_;
  client::Client* client_ = nullptr;
  submission::RunWish wish_;
  submission::RunPlace place_;
  submission::PlanFacts facts_;
  std::optional<submission::WorkCopy> copy_;
  std::string folder_, data_dir_;
  bool here_ = false;    // the server is on this machine
  bool copies_ = false;  // this account may make copies in its data directory
};

base::Result<void> Run::FindServerFacts() {
  TRY(client_, context_.Server());
  TRY(place_.space, context_.Space());
  auto info = client_->Get("/pondage/v1/info");
  const bool unknown =
      !info && (info.error().kind == Kind::kNotFound || info.error().kind == Kind::kForbidden);
  if (!info && !unknown) return std::unexpected(info.error());
  if (info) {
    data_dir_ = client::Text(*info, {"dataDir"});
    place_.user = client::Text(*info, {"user"});
  }
  if (place_.user.empty() || place_.user == "admin") place_.user = LoginName();
  if (data_dir_.empty()) return {};
  // A server of another machine may have a directory of the same name.
  const std::string boot = client::Text(*info, {"bootId"});
  const bool same = boot.empty() || boot == shim::BootId();
  here_ = same && (access(data_dir_.c_str(), F_OK) == 0 || errno == EACCES);
  if (!here_) return {};
  const std::string copies = submission::CopiesOf(data_dir_);
  copies_ = access(copies.c_str(), W_OK | X_OK) == 0 ||
            (errno == ENOENT && access(data_dir_.c_str(), W_OK | X_OK) == 0);
  return {};
}

base::Result<void> Run::FindPython() {
  if (!wish_.image.empty()) {
    facts_.program = wish_.image;
    return {};
  }
  if (!here_) {
    return Fail(Kind::kInvalid, "PND-C019", "",
                "the present Python cannot be used there: name an --image");
  }
  TRY(const submission::Python python, submission::PresentPython(context_.around()));
  wish_.image = submission::LocalImage(python.prefix);
  facts_.program = fmt::format("{} (Python {}", python.prefix, python.version);
  const auto tensorflow = submission::AskTensorFlow(python.program);
  if (tensorflow && !tensorflow->version.empty()) {
    facts_.program += ", TensorFlow " + tensorflow->version;
    if (!tensorflow->keras.empty()) facts_.program += ", Keras " + tensorflow->keras;
  }
  facts_.program += ")";
  if (tensorflow && tensorflow->version.empty()) {
    context_.Warn(fmt::format(
        fmt::runtime(screen_.Pick("no TensorFlow in {}", "{} 中没有 TensorFlow")), python.prefix));
  }
  if (line_.Has("dry-run")) {
    place_.environment = python.prefix;  // nothing is recorded
    return {};
  }
  const json::value environment = {{"image", wish_.image}, {"path", python.prefix}};
  auto recorded = client_->Post("/pondage/v1/environments", environment);
  if (!recorded && recorded.error().kind == Kind::kForbidden) {
    place_.environment = python.prefix;  // the list is the administrator's: the job brings it
    return {};
  }
  if (!recorded && recorded.error().kind != Kind::kAlreadyExists &&
      recorded.error().kind != Kind::kConflict) {
    return std::unexpected(recorded.error());
  }
  return {};
}

// Why `python FILE` would find no such file: it would be copied, started and started again for
// nothing. Empty: nothing is known against it.
std::string Run::WhyNoScript() const {
  const std::string script = submission::ScriptOf(wish_.program);
  if (script.empty() || script.starts_with('/')) return "";
  std::error_code error;
  const bool is_there = std::filesystem::exists(folder_ + "/" + script, error);
  if (!is_there) {
    return fmt::format(fmt::runtime(screen_.Pick("there is no {0} in {1}", "{1} 中没有 {0}")),
                       script, folder_);
  }
  const bool leaves = *std::filesystem::path(script).lexically_normal().begin() == "..";
  if (!leaves || line_.Has("no-copy")) return "";
  return fmt::format(
      fmt::runtime(screen_.Pick("{0} lies outside {1}, of which the job gets a copy: start it from "
                                "where it lies, or with --no-copy",
                                "{0} 在 {1} 之外, 作业只得到后者的副本: 请在它所在的目录启动, "
                                "或使用 --no-copy")),
      script, folder_);
}

base::Result<void> Run::CheckScript() const {
  const std::string why = WhyNoScript();
  if (why.empty()) return {};
  // A mount may bring it.
  if (wish_.mounts.empty() && !line_.Has("yes")) {
    return Fail(Kind::kInvalid, "PND-C010", "",
                why + screen_.Pick("\nnothing was copied or sent; --yes sends it all the same",
                                   "\n没有复制或提交任何内容; --yes 可强制提交"));
  }
  context_.Warn(why);
  return {};
}

// Seen from the machine where the job will run, as far as this account can see.
base::Result<void> Run::CheckMounts() const {
  if (!here_) return {};
  for (const submission::Mount& mount : wish_.mounts) {
    std::error_code error;
    if (std::filesystem::exists(mount.source, error) || error) continue;
    return Fail(
        Kind::kInvalid, "PND-C010", "",
        fmt::format(fmt::runtime(screen_.Pick("--mount: {} does not exist", "--mount: {} 不存在")),
                    mount.source));
  }
  return {};
}

base::Result<void> Run::FindCopy() {
  std::error_code error;
  folder_ = std::filesystem::current_path(error).string();
  if (error)
    return Fail(Kind::kInvalid, "PND-C010", "",
                "the present directory is gone: " + error.message());
  place_.directory = folder_;
  TRY_DO(CheckScript());
  TRY_DO(CheckMounts());
  if (line_.Has("no-copy")) return {};
  if (!copies_ && here_) {
    return Fail(Kind::kInvalid, "PND-C019", "",
                fmt::format("{} is closed to the account {}, so no working copy can be made there: "
                            "let the server run as root with --run-as ACCOUNT, or use --no-copy "
                            "with a directory that jobs can reach",
                            data_dir_, LoginName()));
  }
  if (!copies_) {
    return Fail(
        Kind::kInvalid, "PND-C019", "",
        "the working directory cannot be copied there: use --no-copy with a shared directory");
  }
  TRY(const auto limit, line_.Size("copy-limit"));
  TRY(auto plan, submission::PlanCopy(folder_, limit.value_or(submission::kCopyLimit)));
  if (!plan.left_out.empty()) {
    const std::vector<std::string> few(
        plan.left_out.begin(),
        plan.left_out.begin() + std::min<std::ptrdiff_t>(3, std::ssize(plan.left_out)));
    context_.Warn(phrase::Fill(
        screen_.Pick("{n:thing is|things are} not copied, being no file and no directory: {which}",
                     "{n} 项既非文件也非目录, 不复制: {which}"),
        {{"n", std::to_string(plan.left_out.size())},
         {"which", terminal::Plain(terminal::Join(few, ", "))}}));
  }
  copy_.emplace(submission::CopiesOf(data_dir_), place_.space, std::move(plan));
  return {};
}

void Run::Name(const std::string& name) {
  wish_.name = name;
  if (!copy_) return;
  place_.work_copy = copy_->PathFor(name);
  place_.directory = place_.work_copy;
  facts_.copy =
      phrase::Fill(screen_.Pick("{n:file|files}, {size} -> {path}", "{n} 个文件, {size} -> {path}"),
                   {{"n", std::to_string(copy_->plan().files.size())},
                    {"size", terminal::SizeText(copy_->plan().size)},
                    {"path", place_.work_copy}});
}

base::Result<void> Run::Prepare() {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  TRY(wish_,
      submission::WishOf(line_, context_.around(), here, context_.settings().Value("queue")));
  TRY_DO(FindServerFacts());
  TRY_DO(FindCopy());
  TRY_DO(FindPython());
  if (wish_.named) {
    Name(wish_.name);
    return {};
  }
  TRY(const auto jobs, client::ListAll(*client_, client::TfJobPath(place_.space)));
  Name(client::NextName(wish_.name, jobs));
  return {};
}

// The job that the same key made before; PND-C007 when something else was asked for then.
base::Result<std::optional<view::JobView>> Run::Earlier() {
  if (wish_.key.empty()) return std::optional<view::JobView>();
  auto object = client_->Get(client::TfJobPath(place_.space, wish_.name));
  if (!object) {
    if (object.error().kind == Kind::kNotFound) return std::optional<view::JobView>();
    return std::unexpected(object.error());
  }
  const json::object mine = submission::MakeTfJob(wish_, place_);
  if (client::Text(*object, {"metadata", "annotations", submission::kRequestDigest}) !=
      client::Text(mine, {"metadata", "annotations", submission::kRequestDigest})) {
    return Fail(Kind::kConflict, "PND-C007", "",
                fmt::format("the key \"{}\" made job {} with another command or other flags",
                            wish_.key, wish_.name));
  }
  return std::optional(view::ViewJob(*object));
}

// A job may name a queue that is made later; whoever types one means one that is there.
base::Result<void> Run::CheckQueue() {
  if (wish_.queue.empty()) return {};
  return client::CheckNamed(*client_, client::kQueues, "queue", wish_.queue, "PND-C022");
}

// A class that nobody made would count as none.
base::Result<void> Run::CheckPriority() {
  if (wish_.priority.empty()) return {};
  return client::CheckNamed(*client_, "/apis/scheduling.k8s.io/v1/priorityclasses", "PriorityClass",
                            wish_.priority, "PND-C002");
}

std::string Run::QueueFacts(const std::string& queue) {
  auto object = client_->Get(client::kQueues + "/" + client::PercentEncode(queue));
  if (!object) return {};
  const auto gpus = [&](client::Path path) { return client::Text(*object, path); };
  std::vector<std::string> facts;
  const auto add = [&](const char* english, const char* chinese, const std::string& value) {
    if (!value.empty())
      facts.push_back(fmt::format("{} {}", screen_.Pick(english, chinese), value));
  };
  add("guarantee", "保障", gpus({"spec", "guarantee", "nvidia.com/gpu"}));
  add("used", "已用", gpus({"status", "used", "nvidia.com/gpu"}));
  add("limit", "上限", gpus({"spec", "limit", "nvidia.com/gpu"}));
  return facts.empty() ? "" : "(" + terminal::Join(facts, ", ") + ")";
}

base::Result<view::JobView> Run::Plan() {
  json::value planned;
  const auto offer = [&](const std::string& name) -> base::Result<void> {
    Name(name);
    TRY(planned, client_->Post(client::TfJobPath(place_.space) + "?dryRun=All",
                               submission::MakeTfJob(wish_, place_)));
    return {};
  };
  TRY_DO(client::UnderFreeName(wish_.name, wish_.named, offer));
  context_.NoteWarnings();
  view::JobView view = view::ViewJob(planned);
  facts_.queue = QueueFacts(view.queue);
  return view;
}

base::Result<bool> Run::GoAhead(const view::JobView& planned) {
  if (line_.Has("yes") || !planned.reason) return true;
  const bool can_ask = screen_.in_is_terminal && screen_.err_is_terminal;
  if (planned.reason->constraint == "never") {
    if (can_ask)
      return terminal::Ask(screen_,
                           screen_.Pick("it can never start as it is; send it all the same?",
                                        "按此要求永远无法启动; 仍要提交?"),
                           false);
    return Fail(Kind::kForbidden, "PND-C015", "",
                fmt::format("job {} can never start: {}", wish_.name, planned.reason->message));
  }
  if (!can_ask) return true;
  return terminal::Ask(screen_, screen_.Pick("it has to wait; queue it?", "需要等待; 加入队列?"),
                       true);
}

// Under the planned name, or the next that is free: others send at the same moment. The copy goes
// only when it is certain that no job uses it.
base::Result<void> Run::Send() {
  const auto offer = [&](const std::string& name) -> base::Result<void> {
    Name(name);
    if (copy_) TRY_DO(copy_->BelongTo(name));
    client::Creation creation = client::Create(*client_, client::TfJobPath(place_.space),
                                               submission::MakeTfJob(wish_, place_));
    if (copy_ && (creation.outcome || creation.may_exist)) copy_->Keep();
    return std::move(creation.outcome);
  };
  TRY_DO(client::UnderFreeName(wish_.name, wish_.named, offer));
  return {};
}

// The exit code where it ends without a job: a dry run, or a no.
base::Result<std::optional<int>> Run::PlanAndSend() {
  TRY(const view::JobView planned, Plan());
  const std::string plan = submission::PlanText(wish_, planned, facts_, screen_, terminal::Now());
  if (line_.Has("dry-run")) {
    context_.Print(plan);
    return terminal::kDone;
  }
  context_.Note(plan);
  TRY(const bool go, GoAhead(planned));
  if (!go) return line_.Has("detach") ? terminal::kNegative : terminal::kPondageFailed;
  TRY_DO(Send());
  context_.NoteWarnings();
  return std::optional<int>();
}

base::Result<int> Run::Go() {
  if (line_.Has("output") && line_.Value("output") != "table" && !line_.Has("detach") &&
      !line_.Has("dry-run")) {
    return Fail(Kind::kInvalid, "PND-C002", "",
                "--output goes with --detach or --dry-run: attached, stdout is the program's");
  }
  TRY_DO(Prepare());
  const bool dry = line_.Has("dry-run");
  const json::object named{{"name", wish_.name}};
  if (dry) {
    if (const auto text =
            terminal::RenderOne(submission::MakeTfJob(wish_, place_), named, screen_)) {
      context_.Print(*text);
      return terminal::kDone;
    }
  }
  TRY_DO(CheckQueue());
  TRY_DO(CheckPriority());
  TRY(auto earlier, Earlier());
  if (!earlier) {
    const auto ended = PlanAndSend();
    if (ended && *ended) return **ended;
    if (!ended) {
      // Another command with the same key may have come first, a moment ago.
      if (ended.error().kind != Kind::kAlreadyExists) return std::unexpected(ended.error());
      TRY(earlier, Earlier());
      if (!earlier) return std::unexpected(ended.error());
    }
  }
  if (earlier && dry) {
    context_.Print(fmt::format("{} {}\n", earlier->name, view::StateName(earlier->state)));
    return terminal::kDone;
  }
  if (!line_.Has("detach")) return session::FollowJob(*client_, screen_, place_.space, wish_.name);
  context_.PrintMade(place_.space, wish_.name);
  context_.Note(
      fmt::format(fmt::runtime(screen_.Pick(
                      "now: pondage logs -f {0}    pondage explain {0}    pondage stop {0}\n",
                      "接下来: pondage logs -f {0}    pondage explain {0}    pondage stop {0}\n")),
                  wish_.name));
  return terminal::kDone;
}

}  // namespace

base::Result<int> RunMain(Context& context) {
  Run run(context);
  return run.Go();
}

}  // namespace pondage::cmd
