#include <array>

#include "phrase/rows.h"

namespace pondage::phrase {
namespace {

// Values of all sentences here: see plan::Facts.
constexpr std::array kRows = std::to_array<Message>({
    {"PND-Q001",
     {"no such queue", "队列不存在"},
     {"there is no queue {where}", "队列 {where} 不存在"},
     {"The job names a queue that does not exist, or that was removed. It keeps its place and goes "
      "on as soon as a queue of that name is made.",
      "作业指定的队列不存在或已被删除。作业保留位置, 一旦建立同名队列就继续。"},
     {"Make the queue, or send the job to one that exists.",
      "建立该队列, 或把作业提交到已有的队列。"},
     {"pondage queue ls", "pondage queue ls"}},
    {"PND-Q002",
     {"suspended", "已挂起"},
     {"suspended; it starts when it is resumed", "已挂起, 恢复后才会启动"},
     {"The job was suspended by its owner or created so. It holds no GPU.",
      "作业被所有者挂起, 或创建时就是挂起状态。它不占用 GPU。"},
     {"Resume it when it is to run.", "需要运行时恢复它。"},
     {"pondage resume JOB", "pondage resume JOB"}},
    {"PND-Q003",
     {"the queue is held", "队列被扣留"},
     {"queue {where} is held and starts nothing", "队列 {where} 被扣留, 不启动任何作业"},
     {"An admin holds this queue, or one above it. What runs goes on; nothing new starts.",
      "管理员扣留了此队列或其上级队列。正在运行的作业继续, 不启动新作业。"},
     {"Ask the admin, or use another queue.", "联系管理员, 或使用其他队列。"},
     {"pondage queue ls", "pondage queue ls"}},
    {"PND-Q004",
     {"waits before it restarts", "重启前等待"},
     {"waits before it restarts[, until {until}]", "重启前等待[, 到 {until}]"},
     {"The job failed and restarts after a delay that doubles each time, so that a program that "
      "fails at once does not keep the machine busy.",
      "作业失败, 将在延迟后重启。每次延迟加倍, 以免一启动就失败的程序占用机器。"},
     {"Look at why it failed; the delay passes by itself.", "查看失败原因; 延迟会自行结束。"},
     {"pondage show JOB", "pondage show JOB"}},
    {"PND-Q005",
     {"the gang is not complete", "成员不足"},
     {"wants {need:member|members} together, its replicas are {have}",
      "要求 {need} 个成员同时启动, 但副本只有 {have} 个"},
     {"schedulingPolicy.minAvailable is larger than the number of replicas, so the gang can never "
      "be whole.",
      "schedulingPolicy.minAvailable 大于副本总数, 成员永远凑不齐。"},
     {"Lower minAvailable, or raise the number of replicas.", "降低 minAvailable, 或增加副本数。"},
     {"", ""}},
    {"PND-Q006",
     {"the queue's limit is reached", "达到队列上限"},
     {"queue {where} may use {limit:GPU|GPUs}; {used:is|are} in use and this job asks for {need}",
      "队列 {where} 上限 {limit} 张卡, 已用 {used} 张, 此作业需要 {need} 张"},
     {"The limit of the queue, or of one above it, counts all of its running jobs. The job starts "
      "when enough of them have ended, even if other GPUs are free.",
      "队列或其上级的上限包括其所有运行中的作业。即使有其他空闲 GPU, "
      "也要等足够的作业结束才会启动。"},
     {"Ask for fewer GPUs, wait, or ask the admin for a higher limit.",
      "减少 GPU 数量, 等待, 或请管理员提高上限。"},
     {"pondage queue show QUEUE", "pondage queue show QUEUE"}},
    {"PND-Q007",
     {"not enough GPUs free together", "没有足够的 GPU 同时空闲在一起"},
     {"needs {need:GPU|GPUs}[{?single} on one machine][, {block_need} of them on one machine]; "
      "{have:is|are} free, at most {block} together[ (on {where})][; most are held by {holders}][; "
      "the first ends by {until}]",
      "需要[{?single}同一台机器] {need} 张卡[, 其中 {block_need} 张在同一台机器]; 空闲 {have} 张, "
      "同一台最多 {block} 张[ ({where})][, 主要被 {holders} 占用][, 最早 {until} 前释放]"},
     {"All GPUs of one replica must be on one machine, and all replicas start together or none "
      "does. GPUs are free, but in pieces that are too small or too few.",
      "一个副本的所有 GPU 必须在同一台机器上, 并且所有副本同时启动。现在空闲的 GPU 太零散或太少。"},
     {"More, smaller workers may start now; `explain` says which size would.",
      "更多, 更小的 worker 也许现在就能启动; `explain` 会给出建议。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q008",
     {"not enough free GPUs", "空闲 GPU 不足"},
     {"needs {need:GPU|GPUs}; {have:is|are} free, {missing:more is|more are} needed[; most are "
      "held by {holders}][; the first ends by {until}]",
      "需要 {need} 张卡, 空闲 {have} 张, 还差 {missing} 张[, 主要被 {holders} 占用][, 最早 {until} "
      "前释放]"},
     {"Other jobs hold the GPUs. This one is in the queue and starts as soon as enough of them are "
      "free.",
      "GPU 被其他作业占用。此作业在队列中, 有足够的 GPU 释放后就启动。"},
     {"Wait, or ask for fewer GPUs.", "等待, 或减少 GPU 数量。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q009",
     {"others are ahead", "前面有其他作业"},
     {"would fit, but {ahead_count:job waits|jobs wait} ahead of it for the same[: {ahead}]",
      "放得下, 但前面有 {ahead_count} 个作业在等同样的资源[: {ahead}]"},
     {"An earlier job, or one of higher priority, needs more than is free and would wait for ever "
      "if later jobs took what it waits for.",
      "更早或优先级更高的作业需要更多资源; 如果后来的作业先占用, 它将永远等不到。"},
     {"Wait for your turn.", "等待轮到。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q010",
     {"its machines are out of service", "所需机器停用"},
     {"fits only with machines or GPUs that are out of service[, such as {where}]",
      "只有加上停用的机器或 GPU 才放得下[, 例如 {where}]"},
     {"The pool has machines that are large enough, but they are cordoned, lost, or have broken "
      "GPUs.",
      "资源池有足够大的机器, 但它们停止接收作业, 失联, 或 GPU 故障。"},
     {"Bring the machine back, or ask for less.", "恢复机器, 或减少需求。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-Q011",
     {"larger than the queue's limit", "超过队列上限"},
     {"asks for {need:GPU|GPUs}; queue {where} never allows more than {limit}",
      "需要 {need} 张卡, 队列 {where} 最多允许 {limit} 张"},
     {"Even when nothing else runs, the limit of the queue or of one above it is smaller than this "
      "job.",
      "即使没有其他作业, 队列或其上级的上限也小于此作业的需求。"},
     {"Ask for fewer GPUs, use another queue, or ask the admin for a higher limit.",
      "减少 GPU 数量, 换一个队列, 或请管理员提高上限。"},
     {"pondage queue ls", "pondage queue ls"}},
    {"PND-Q012",
     {"larger than the pool", "超过资源池"},
     {"needs {need:GPU|GPUs}[{?single} on one machine][, {block_need} of them on one machine]; the "
      "pool has {have}, at most {block} on one machine[ ({where})]",
      "需要[{?single}同一台机器] {need} 张卡[, 其中 {block_need} 张在同一台机器]; 资源池共 {have} "
      "张, 同一台最多 {block} 张[ ({where})]"},
     {"No present machine, or not all of them together, could ever run this job, even when nothing "
      "else runs. All GPUs of one replica must be on one machine.",
      "即使没有其他作业, 现有机器也无法运行此作业。一个副本的所有 GPU 必须在同一台机器上。"},
     {"Use more workers with fewer GPUs each, or fewer of both.",
      "增加 worker 数并减少每个的 GPU, 或两者都减少。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-Q013",
     {"no such GPU type", "没有此型号的 GPU"},
     {"needs {need:GPU|GPUs} of type {where}, the pool has {have}[; its types are: {present}]",
      "需要 {need} 张 {where}, 资源池有 {have} 张[; 现有型号: {present}]"},
     {"The job names a GPU type of which the pool has none, or too few on one machine.",
      "作业指定的 GPU 型号在资源池中没有, 或同一台机器上数量不足。"},
     {"Name another type, or none.", "换一个型号, 或不指定。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-Q014",
     {"no machine with such labels", "没有带此标签的机器"},
     {"no machine that carries the label {where} is large enough",
      "没有带标签 {where} 且足够大的机器"},
     {"The Pod template's nodeSelector leaves no machine on which the job could ever run.",
      "Pod 模板的 nodeSelector 排除了所有可运行的机器。"},
     {"Correct the nodeSelector, or label the machine.", "修改 nodeSelector, 或给机器加标签。"},
     {"pondage nodes show NODE", "pondage nodes show NODE"}},
    {"PND-Q015",
     {"more cores than there are", "CPU 核数超过资源池"},
     {"needs {need} cores[{?single} on one machine][, {block_need} of them on one machine]; the "
      "pool has {have}, at most {block} on one machine[ ({where})]",
      "需要[{?single}同一台机器] {need} 核[, 其中 {block_need} 核在同一台机器]; 资源池共 {have} "
      "核, 同一台最多 {block} 核[ ({where})]"},
     {"The CPU request of the replicas is larger than the machines.",
      "副本的 CPU 需求超过机器容量。"},
     {"Lower --cpu, or the request in the template.", "降低 --cpu 或模板中的 CPU 需求。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-Q016",
     {"more memory than there is", "内存超过资源池"},
     {"needs {need} of memory[{?single} on one machine][, {block_need} of it on one machine]; the "
      "pool has {have}, at most {block} on one machine[ ({where})]",
      "需要[{?single}同一台机器]内存 {need}[, 其中 {block_need} 在同一台机器]; 资源池共 {have}, "
      "同一台最多 {block}[ ({where})]"},
     {"The memory request of the replicas is larger than the machines.",
      "副本的内存需求超过机器容量。"},
     {"Lower --memory, or the request in the template.", "降低 --memory 或模板中的内存需求。"},
     {"pondage nodes ls", "pondage nodes ls"}},
    {"PND-Q017",
     {"not enough free cores", "空闲 CPU 核不足"},
     {"needs {need} cores[{?single} on one machine][, {block_need} of them on one machine]; "
      "{have:is|are} free, at most {block} together[; most are held by {holders}][; the first ends "
      "by {until}]",
      "需要[{?single}同一台机器] {need} 核[, 其中 {block_need} 核在同一台机器]; 空闲 {have} 核, "
      "同一台最多 {block} 核[, 主要被 {holders} 占用][, 最早 {until} 前释放]"},
     {"GPUs may be free, but the cores are promised to other jobs.",
      "也许有空闲 GPU, 但 CPU 核已分配给其他作业。"},
     {"Lower --cpu, or wait.", "降低 --cpu, 或等待。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q018",
     {"not enough free memory", "空闲内存不足"},
     {"needs {need} of memory[{?single} on one machine][, {block_need} of it on one machine]; "
      "{have} is free, at most {block} together[; most is held by {holders}][; the first ends by "
      "{until}]",
      "需要[{?single}同一台机器]内存 {need}[, 其中 {block_need} 在同一台机器]; 空闲 {have}, "
      "同一台最多 {block}[, 主要被 {holders} 占用][, 最早 {until} 前释放]"},
     {"GPUs may be free, but the memory is promised to other jobs.",
      "也许有空闲 GPU, 但内存已分配给其他作业。"},
     {"Lower --memory, or wait.", "降低 --memory, 或等待。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q019",
     {"too many replicas", "副本太多"},
     {"has {need:replica|replicas}; a job may have {have} at most",
      "有 {need} 个副本, 一个作业最多 {have} 个"},
     {"A job of this size is a mistake more often than a wish, and no pool could start it.",
      "这样的规模通常是笔误, 也没有资源池能启动它。"},
     {"Lower the number of replicas.", "减少副本数。"},
     {"", ""}},
    {"PND-Q020",
     {"not proven", "未经证明"},
     {"; replicas of different sizes may fit another way, not all ways were tried",
      "; 副本大小不同, 可能有其他放法, 未全部尝试"},
     {"For a gang whose replicas differ, the planner tries a fixed number of arrangements. None of "
      "them fitted, but it did not try all.",
      "对于副本大小不同的作业, 规划器只尝试固定数量的放法。都放不下, 但没有试完。"},
     {"Equal replicas are always placed when they fit.", "大小相同的副本只要放得下就一定能放。"},
     {"", ""}},
    {"PND-Q021",
     {"kept for an earlier job", "为前面的作业保留"},
     {"would fit, but what it would use is kept for {ahead_count:earlier job|earlier jobs}[: "
      "{ahead}][; the first starts by {until}]",
      "放得下, 但要用的资源已为前面 {ahead_count} 个作业保留[: {ahead}][, 最早的将在 {until} "
      "前启动]"},
     {"The time limits of what runs tell when an earlier job starts. A later one may use its GPUs "
      "until then, but not longer, and this one has a longer limit or none.",
      "根据运行中作业的时限可以知道前面的作业何时启动。后面的作业可以在此之前使用这些 GPU, "
      "但不能更久, 而此作业的时限更长或没有时限。"},
     {"A shorter time limit may let it start now.", "较短的时限也许能让它现在启动。"},
     {"pondage run --time 30m ...", "pondage run --time 30m ..."}},
    {"PND-Q022",
     {"no free port", "没有空闲端口"},
     {"needs {need:port|ports} to listen on; too few of {first}-{last} are free",
      "需要 {need} 个监听端口; {first}-{last} 中空闲的不够"},
     {"Each replica of a job of several listens on a port of its own. All of the range are in use "
      "by jobs, or by programs outside the pool.",
      "多副本作业的每个副本都要监听一个端口。该范围内的端口都被作业或池外程序占用。"},
     {"Wait until another job ends, or end what listens on them outside the pool (ss -ltn).",
      "等待其他作业结束, 或结束池外占用端口的程序 (ss -ltn)。"},
     {"pondage doctor", "pondage doctor"}},
    {"PND-Q023",
     {"your own limit is reached", "达到个人上限"},
     {"one user may use {limit:GPU|GPUs} of queue {where} at once; this one uses {used} and asks "
      "for {need}",
      "每个用户在队列 {where} 中最多同时使用 {limit} 张卡, 此用户已用 {used} 张, 此作业需要 {need} "
      "张"},
     {"The queue limits what the jobs of one user hold together. The job starts when enough of "
      "this user's own jobs have ended; it holds back nobody else.",
      "队列限制单个用户的作业同时占用的 GPU。等该用户自己的作业释放足够的 GPU 后就启动, "
      "不影响其他人。"},
     {"Wait for your own jobs, or use another queue.", "等待自己的作业结束, 或使用其他队列。"},
     {"pondage queue show QUEUE", "pondage queue show QUEUE"}},
    {"PND-Q024",
     {"no part of the network is large enough", "没有足够大的拓扑域"},
     {"must be within one {where}; it needs {need:GPU|GPUs}, the largest has {block}",
      "必须位于同一 {where} 内; 需要 {need} 张卡, 最大的只有 {block} 张"},
     {"The job requires that all its replicas stand close together, and no such group of machines "
      "is "
      "large enough, even when nothing else runs.",
      "作业要求所有副本彼此靠近, 但即使没有其他作业, 也没有足够大的一组机器。"},
     {"Prefer the level instead of requiring it, or ask for less.",
      "把该级别改为优先而不是必须, 或减少需求。"},
     {"", ""}},
    {"PND-Q025",
     {"not enough free close together", "没有足够的邻近空闲资源"},
     {"must be within one {where}; it needs {need:GPU|GPUs}, at most {block} are free in one",
      "必须位于同一 {where} 内; 需要 {need} 张卡, 单个内最多空闲 {block} 张"},
     {"The job requires that all its replicas stand close together. Enough is free, but not within "
      "one "
      "such group of machines.",
      "作业要求所有副本彼此靠近。空闲总量足够, 但不在同一组机器内。"},
     {"Wait, or prefer the level instead of requiring it.", "等待, 或把该级别改为优先而不是必须。"},
     {"pondage explain JOB", "pondage explain JOB"}},
    {"PND-Q026",
     {"the array runs as many as it may", "数组已达并行上限"},
     {"{used:job|jobs} of array {where} run, and it may run {limit} at a time",
      "数组 {where} 有 {used} 个作业在运行, 最多同时运行 {limit} 个"},
     {"The jobs of an array start so many at a time, as its owner asked.",
      "数组中的作业按所有者的要求限制同时运行的数量。"},
     {"Wait until one of them ends, or raise the number.", "等待其中一个结束, 或提高数量。"},
     {"", ""}},
    {"PND-Q027",
     {"its machines go out of service soon", "机器即将停用"},
     {"would fit, but machines such as {where} go out of service at {until}",
      "放得下, 但 {where} 等机器将在 {until} 停用"},
     {"An admin has announced that machines are taken out of service. Nothing starts there that "
      "would "
      "not have ended before.",
      "管理员已安排停机维护。在此之前不能结束的作业不会在这些机器上启动。"},
     {"A shorter time limit may let it start now.", "较短的时限也许能让它现在启动。"},
     {"pondage run --time 30m ...", "pondage run --time 30m ..."}},
    {"PND-Q028",
     {"an object that it needs does not exist", "缺少所需的对象"},
     {"waits for {what} in namespace {where}, which does not exist; make it with kubectl apply",
      "等待命名空间 {where} 中的 {what}, 它不存在; 请用 kubectl apply 建立"},
     {"The Pod template names a PersistentVolumeClaim, or a ConfigMap or Secret (or a key of one) "
      "that is not marked optional, and there is none. The job keeps its place, holds no GPU, and "
      "goes on as soon as the object is made: the order in which objects are applied does not "
      "matter.",
      "Pod 模板引用的 PersistentVolumeClaim, 或未标为 optional 的 ConfigMap, Secret 或其中的键, "
      "并不存在。作业保留位置, 不占用 GPU, 对象建立后立即继续: 对象提交的先后顺序没有关系。"},
     {"Make the object in the job's namespace, or mark the reference optional.",
      "在作业的命名空间中建立该对象, 或把引用标为 optional。"},
     {"kubectl apply -f FILE", "kubectl apply -f FILE"}},
    {"PND-Q029",
     {"a claim that it needs is being deleted", "所需的存储声明正在删除"},
     {"waits for {what} in namespace {where}, which is being deleted; it starts when there is one "
      "of that name again",
      "等待命名空间 {where} 中的 {what}, 它正在删除; 再次建立同名对象后启动"},
     {"Deletion of the PersistentVolumeClaim was asked for. It stays until the last Pod that uses "
      "it is gone, then goes with its data, and no new Pod may use it.",
      "已请求删除该 PersistentVolumeClaim。最后一个使用它的 Pod 消失之前它会保留, 之后连同数据一起"
      "删除, 新的 Pod 不能再使用它。"},
     {"When it is gone, make it again; it is empty then.", "待其消失后重新建立; 那时它是空的。"},
     {"kubectl get pvc,pods", "kubectl get pvc,pods"}},
    {"PND-Q030",
     {"more is guaranteed than there is", "保证量超过实有量"},
     {"{need:GPU is|GPUs are} guaranteed [below queue {where}, which is guaranteed "
      "{have}][{?top}in "
      "all, the machines have {have}]",
      "[队列 {where} 之下共保证 {need} 张卡, 而它自己只保证 {have} 张][{?top}共保证 {need} 张卡, "
      "机器只有 {have} 张]"},
     {"Jobs inside their queue's guarantee come before all others. Queues side by side are "
      "promised "
      "more together than their parent is, or than all machines have: when all ask at once, "
      "somebody "
      "waits though his queue is within its guarantee. It is a warning; nothing is refused.",
      "队列保证量之内的作业先于其他作业。同级队列的保证量之和超过了上级的保证量或全部机器的 GPU "
      "数: "
      "大家同时使用时, 有的队列虽未超过保证量也必须等待。这只是警告, 不会拒绝。"},
     {"Lower a guarantee, or add machines.", "降低某个保证量, 或增加机器。"},
     {"pondage queue", "pondage queue"}},
});

}  // namespace

std::span<const Message> QueueRows() {
  return kRows;
}

}  // namespace pondage::phrase
