import { feature, offer } from '../../core/feature.ts'
import { FileZips } from './file-zip.ts'
import { zipRoutes } from './routes.ts'

export const zips = feature({
  name: 'zips',
  routes: zipRoutes,
  open: core => {
    const services = { zips: new FileZips(core) }
    return { services, offers: offer(services, zipRoutes) }
  },
})
