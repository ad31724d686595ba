import { bytes, choice, text } from '../../config/kinds.ts'

/** The pattern of a port: 1 to 65535. */
const PORT = '[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]'

/** The scan of files for viruses by ClamAV (D32.1). */
export const virusScanSettings = {
  title: 'Virus scan',
  rows: {
    'service.data.virus-scan': text({
      sameOnAllNodes: true,
      expects: '`host:port`, or the path of a Unix socket',
      matches: new RegExp(`^(/.+|(\\[[0-9a-fA-F:]+\\]|[^\\s/:]+):(${PORT}))$`),
      help: 'Where clamd listens. If set, it scans each file before the file is stored.',
    }),
    'service.data.virus-scan.failure': choice(['reject', 'store'], {
      sameOnAllNodes: true,
      default: 'reject',
      help: 'Files that clamd cannot scan, because it fails or they are too large: `reject` them (503, 413), or `store` them without a scan.',
    }),
    'service.data.virus-scan.max-size': bytes({
      sameOnAllNodes: true,
      min: 0,
      default: 25 * 2 ** 20,
      unlimited: 'no limit here',
      help: 'Larger files are not sent to clamd; at most its `StreamMaxLength`.',
    }),
  },
  removed: {
    'service.data.virus-scan.large-files':
      'service.data.virus-scan.failure says what happens to all files that clamd cannot scan, also those that are too large for it',
    'service.data.virus-scan.timeout':
      'clamd may take two minutes, which is when it gives up a file itself (MaxScanTime)',
    'service.data.virus-scan.concurrency': 'a process has four files scanned at once, and others wait',
  },
} as const
