// A real browser from npm, so that page tests need only Node. Runs under Node, because Playwright does not
// work well under Bun.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const cache = join(import.meta.dirname, '../../node_modules/.cache/tatami-browser');

/**
 * Replaces the fontconfig of the package, whose paths do not exist here. The browser crashes on pages without
 * any font.
 */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${join(cache, 'fonts')}</dir><cachedir>${join(cache, 'fonts-cache')}</cachedir></fontconfig>
`;

/** The caller closes the browser. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(cache)) await unpack();
  writeFileSync(join(cache, 'fonts/fonts.conf'), fontsConf);
  return chromium.launch({
    executablePath: join(cache, 'chromium'),
    // The browser sandbox does not work for root, as which tests also run.
    args: ['--headless=shell', '--no-sandbox', '--no-zygote', '--disable-gpu'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(cache, 'al2023/lib'),
      FONTCONFIG_PATH: join(cache, 'fonts'),
    },
  });
}

/**
 * Unpacks into a temporary folder and renames it, because the package assumes that an existing folder is
 * complete.
 */
async function unpack(): Promise<void> {
  mkdirSync(join(cache, '..'), { recursive: true });
  const unpacking = mkdtempSync(`${cache}.`);
  const { TMPDIR = '/tmp' } = process.env;
  process.env.TMPDIR = unpacking;
  // The package unpacks its libraries only on machines that it detects as AWS Lambda.
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs24.x';
  const { default: packed } = await import('@sparticuz/chromium');
  await packed.executablePath();
  process.env.TMPDIR = TMPDIR;
  if (existsSync(cache)) rmSync(unpacking, { recursive: true });
  else renameSync(unpacking, cache);
}
