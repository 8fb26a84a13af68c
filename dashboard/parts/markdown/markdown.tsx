// Shows Markdown. The parser loads with the first text.
import { lazy, Suspense, type ReactNode } from 'react';
import type { MarkdownProps } from './markdown-tree.tsx';
import { startParser } from './markdown-trees.ts';
import styles from '../parts.module.css';

const MarkdownTree = lazy(() => {
  startParser();
  return import('./markdown-tree.tsx');
});

export function Markdown(props: MarkdownProps): ReactNode {
  return (
    <div className={styles.markdown}>
      <Suspense fallback={<pre>{props.source}</pre>}>
        <MarkdownTree {...props} />
      </Suspense>
    </div>
  );
}
