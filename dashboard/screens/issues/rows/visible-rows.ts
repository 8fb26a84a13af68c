// Range of the rows that are in the page. Rows are of equal height, so that a list of any length needs no measurements.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';

/** Rows above and below the visible ones that are in the page. */
const overscan = 6;
/** The range moves in steps, so that most scroll events render nothing. */
const step = 4;

interface Range {
  readonly first: number;
  /** Index behind the last row. */
  readonly end: number;
}

function rangeAt(top: number, viewport: number, height: number): Range {
  const first = Math.floor(top / height) - overscan;
  const end = Math.ceil((top + viewport) / height) + overscan;
  return { first: Math.max(0, Math.floor(first / step) * step), end: Math.ceil(end / step) * step };
}

interface VisibleRows extends Range {
  /** Scrolls only as far as the row needs to be visible. */
  scrollTo(index: number): void;
}

export function useVisibleRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  height: number,
): VisibleRows {
  const [range, setRange] = useState(() => rangeAt(0, innerHeight, height));
  const shown = useRef(range);
  const update = useCallback(
    (isUrgent: boolean) => {
      const { scrollTop, clientHeight } = scroller.current!;
      const next = rangeAt(scrollTop, clientHeight, height);
      if (next.first === shown.current.first && next.end === shown.current.end) return;
      shown.current = next;
      // Rows must appear in the frame that scrolls to them.
      if (isUrgent) flushSync(() => setRange(next));
      else setRange(next);
    },
    [scroller, height],
  );
  useLayoutEffect(() => update(false), [update, count]);
  useEffect(() => {
    const element = scroller.current!;
    const onScroll = (): void => update(true);
    element.addEventListener('scroll', onScroll, { passive: true });
    const observer = new ResizeObserver(() => update(false));
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, [scroller, update]);
  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current!;
      const top = index * height;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + height > element.scrollTop + element.clientHeight)
        element.scrollTop = top + height - element.clientHeight;
      update(false);
    },
    [scroller, height, update],
  );
  return { first: Math.min(range.first, count), end: Math.min(range.end, count), scrollTo };
}
