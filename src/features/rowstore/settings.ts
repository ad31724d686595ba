import { absoluteUrl } from '../../config/address-kinds.ts'

export const rowStoreSettings = {
  title: 'Datasets of a RowStore',
  rows: {
    'service.rowstore.url': absoluteUrl({
      folder: true,
      help: 'Base URL of a RowStore, the same as `baseurl` in its own configuration. Users who may write to a context can then make the CSV files in it available as datasets (`POST /CONTEXT/execute`), and change and delete these datasets. The address may be private. Without this setting, pipelines do not run.',
    }),
  },
} as const
