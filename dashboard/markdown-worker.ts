// Worker that parses Markdown, so that a text that is slow to parse never blocks a tab.
import { parse } from './parts/markdown/markdown-parse.ts';

onmessage = ({ data }: MessageEvent<string>) => postMessage(parse(data));
