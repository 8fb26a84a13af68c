const everyMs = 500;

export interface LoopLag {
  /** Returns the longest delay since the last call (milliseconds). */
  longestMs(): number;
  stop(): void;
}

export function watchLoopLag(): LoopLag {
  let dueMs = performance.now() + everyMs;
  let longest = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longest = Math.max(longest, nowMs - dueMs);
    dueMs = nowMs + everyMs;
  }, everyMs);
  timer.unref();
  return {
    longestMs() {
      const reported = longest;
      longest = 0;
      return reported;
    },
    stop: () => clearInterval(timer),
  };
}
