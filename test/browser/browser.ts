// A real browser that npm brings along, so that pages are tried where only Node is installed. Runs under Node, because Playwright does not
// work well under Bun.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const cache = join(import.meta.dirname, '../../node_modules/.cache/tatami-browser');

/** The package's own looks for its fonts where another machine has them, and a page without any font ends the browser. */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(cache, 'fonts')}</dir><cachedir>${join(cache, 'fonts-cache')}</cachedir></fontconfig>
`;

/** The caller closes it. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(cache)) await unpack();
  writeFileSync(join(cache, 'fonts/fonts.conf'), fontsConf);
  return chromium.launch({
    executablePath: join(cache, 'chromium'),
    // Without a sandbox of its own, because tests also run as root, where it has none.
    args: ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(cache, 'al2023/lib'),
      FONTCONFIG_PATH: join(cache, 'fonts'),
    },
  });
}

/** Under its name it lies whole or not at all: the package takes whatever lies there for unpacked. */
async function unpack(): Promise<void> {
  mkdirSync(join(cache, '..'), { recursive: true });
  const unpacking = mkdtempSync(`${cache}.`);
  const { TMPDIR = '/tmp' } = process.env;
  process.env.TMPDIR = unpacking;
  // The package unpacks the libraries it needs only where it takes the machine for one without any.
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs24.x';
  const { default: packed } = await import('@sparticuz/chromium');
  await packed.executablePath();
  process.env.TMPDIR = TMPDIR;
  if (existsSync(cache)) rmSync(unpacking, { recursive: true });
  else renameSync(unpacking, cache);
}
