// The icon of all pages: a tatami mat of three panels.
export const iconSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#1b6b3a"/><path d="M6 6h20v9H6zM6 17h9v9H6zM17 17h9v9h-9z" fill="#e8f5ec"/></svg>';

/** The icon as a PNG of 32 × 32 pixels in an ICO file, which browsers request as `/favicon.ico` if a page names no icon. */
export const iconIco = new Uint8Array(
  Buffer.from(
    'AAABAAEAICAAAAEAIACRAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAIDAAAADhSSZwAAAAlQTFRFAAAAG2s66PXs/IB/sgAAAAF0Uk5TAEDm2GYAAAA2SURBVHjaY2AIBQMGBlYII4BBFMIIQTBCoQCJEbUKCJZSkYHNipVZUDXUYWBYgelTeCDAggUACT1tmFfzYhkAAAAASUVORK5CYII=',
    'base64',
  ),
);
