import { useEffect, useState } from 'react';

/** Returns the value once it has not changed for some time, such as a text after a pause in typing. */
export function usePaused(value: string, pauseMs: number): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return paused;
}
